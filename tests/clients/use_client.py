"""Uses the built and installed client as a program would: types are checked by mypy, the rest by a running server."""
import sys
from collections.abc import Callable
from typing import Any

from os_screen_observer_client import VERSION, ScreenObserverClient, ScreenObserverError, types

COUNTS = {True: 0, False: 0}


def check(what: str, holds: bool, detail: Any = "") -> None:
    COUNTS[holds] += 1
    if not holds:
        print("FAILED [python]", what, detail)


def refused(call: Callable[[], object]) -> ScreenObserverError:
    try:
        call()
    except ScreenObserverError as error:
        return error
    raise AssertionError("it was not refused")


def main(base_url: str, version: str, token: str | None = None) -> int:
    client = ScreenObserverClient(base_url, token=token)
    health = client.get_healthz()
    check("the version is that of the server", VERSION == version == health["version"], health)
    check("tools are listed", "list_windows" in client.get_tools()["tools"])

    windows: types.ListWindowsReply = client.call("list_windows")
    check("a tool answers with its type", windows["windows"][0]["title"] == "Acme Login", windows)
    found = client.call("find_element", {"selector": '//Button[name="Login"]'})
    check("a tool with arguments answers", found["ambiguous_matches"] == 1, found)
    without = refused(lambda: client.call("find_element", {}))  # type: ignore[call-overload]
    check("a wrong call is refused with its code", (without.status, without.code) == (400, "BadRequest"), without)
    unknown = refused(lambda: client.call("no_such_tool"))  # type: ignore[call-overload]
    check("an unknown tool is refused", unknown.status >= 400, unknown)

    made = client.create_job({"job": "log in as alice", "planner": "scripted:demo", "wait_ms": 60000})
    check("a job is done", made["status"] == "succeeded", made)
    job: Any = client.get_job(made["job_id"])
    check("a job is read", job["result"] == {"greeting": "Hello, alice"}, job)
    check("jobs are listed", len(client.get_jobs(status="succeeded", limit=5)["jobs"]) == 1)
    events = client.get_job_events(made["job_id"], after=2, limit=3)
    check("events are paged", (len(events["events"]), events["next"]) == (3, 5), events)
    over = refused(lambda: client.pause_job(made["job_id"]))
    check("a conflict is told", (over.status, over.code) == (409, "JobConflict"), over)
    check("what is not there is told", refused(lambda: client.get_job("job_/x?y")).status == 404)
    check("text is text", "# TYPE" in client.get_metrics())
    check("a route without a method is reached", client.send("GET", "/api/halt")["halted"] is False)
    nobody = refused(ScreenObserverClient("http://127.0.0.1:9").get_healthz)
    check("nobody there is told", nobody.status == 0, nobody)
    print(f"python client: {COUNTS[True]} passed, {COUNTS[False]} failed")
    return 1 if COUNTS[False] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
