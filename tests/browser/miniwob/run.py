#!/usr/bin/env python3
"""MiniWoB++ by scripted policies over `look` and `act`.

    run.py SERVER HTML-FOLDER [--seeds 10] [--tasks a,b] [--look] [--least 98]

SERVER is the built binary, HTML-FOLDER the folder `miniwob/html` of the package miniwob. A task is solved when its page
rewards it; the page tells the judge of this script, and nothing of that goes through the server.
"""
import argparse, sys, time

from judge import Judge
from page import Failed, Page, Server
from policies import POLICIES


def main():
    words = argparse.ArgumentParser()
    words.add_argument("server")
    words.add_argument("folder")
    words.add_argument("--seeds", type=int, default=10)
    words.add_argument("--first", type=int, default=1)
    words.add_argument("--tasks", default="")
    words.add_argument("--look", action="store_true", help="print what look shows, and do nothing")
    words.add_argument("--least", type=float, default=98.0, help="so many of a hundred have to be solved")
    given = words.parse_args()
    tasks = [name for name in given.tasks.split(",") if name] or sorted(POLICIES)
    judge = Judge(given.folder)
    server = Server(given.server, judge.first)
    page = Page(server)
    if given.look:
        return show(judge, page, tasks, given.first)
    began, solved, failures = time.monotonic(), 0, []
    for name in tasks:
        won = 0
        for seed in range(given.first, given.first + given.seeds):
            problem = episode(judge, page, name, seed)
            won += problem is None
            if problem:
                failures.append(f"{name} {seed}: {problem}")
        solved += won
        print(f"{name}: {won} of {given.seeds}", flush=True)
    server.close()
    for line in failures:
        print("  " + line[:1500])
    count = len(tasks) * given.seeds
    print(f"{len(tasks)} tasks, {count} episodes, {server.calls} calls, {time.monotonic() - began:.0f} s")
    enough = solved * 100 >= given.least * count
    print(f"{solved} of {count} solved: {solved * 100 / count:.1f} %")
    print("1 passed, 0 failed" if enough else "0 passed, 1 failed")
    sys.exit(0 if enough else 1)


def episode(judge, page, name, seed):
    """Nothing if it was solved, else what was wrong."""
    judge.start(name, seed)
    problem = ""
    try:
        page.look()
        POLICIES[name](page)
    except (Failed, AttributeError, KeyError, IndexError, TypeError, ValueError, StopIteration) as met:
        problem = f"{type(met).__name__} {met}"
    # Some pages reward a click on the way.
    reward = judge.reward(0.3 if problem else 2)
    return None if reward is not None and reward > 0 else f"the page says {reward}: {page.query} {problem}"


def show(judge, page, tasks, seed):
    for name in tasks:
        judge.start(name, seed)
        page.look()
        print(f"=== {name}\n{page.text}")
    page.server.close()


if __name__ == "__main__":
    main()
