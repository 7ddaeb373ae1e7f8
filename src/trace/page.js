// Shows one step at a time; the page holds them all.
(() => {
  const links = [...document.querySelectorAll("nav a")];
  let shown = -1;
  function show(index) {
    if (index < 0 || index >= links.length || index === shown) return;
    links.forEach((link, at) => {
      const section = document.querySelector(link.hash);
      if (section) section.hidden = at !== index;
      if (at === index) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    shown = index;
    links[index].scrollIntoView({ block: "nearest" });
    document.querySelector("main").scrollTop = 0;
    history.replaceState(null, "", links[index].hash);
  }
  const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };
  document.addEventListener("keydown", (event) => {
    const far = { Home: 0, End: links.length - 1 }[event.key];
    const next = event.key in steps ? shown + steps[event.key] : far;
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(next);
  });
  links.forEach((link, index) =>
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(index);
    }),
  );
  const asked = links.findIndex((link) => link.hash === location.hash);
  show(asked < 0 ? 0 : asked);
  // The browser goes to the place that the address names, which may be in the middle of a step.
  addEventListener("load", () => setTimeout(() => (document.querySelector("main").scrollTop = 0)));
  addEventListener("hashchange", () => show(links.findIndex((link) => link.hash === location.hash)));
})();
