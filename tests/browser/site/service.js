const tried = fetch(location.search.slice(1), { mode: 'no-cors' }).catch(() => 0);
oninstall = (event) => event.waitUntil(tried.then(() => skipWaiting()));
