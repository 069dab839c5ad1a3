"""A Locust process: the only one of a campaign, its master, or a worker. It reads its `Campaign` from standard input.

Locust's import replaces sockets, threads and locks by gevent's, so it comes before modules that refer to the old ones.
"""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path

import gevent
from locust.env import Environment
from locust.rpc.protocol import Message
from locust.runners import WorkerRunner

from conformance.endpoints.client import Target
from conformance.endpoints.parent import end_with_parent
from conformance.load.campaign import CAMPAIGN, Campaign, Role
from conformance.load.chaos import Chaos
from conformance.load.direct import Direction
from conformance.load.users import CaseUser, Work
from conformance.load.world import NODE_PROGRAM, World
from conformance.problems import LoadProblem, Problem
from conformance.profile import Profile, load_profile, load_ready_file
from conformance.report import ExitCode
from conformance.run.judged_node import target_for
from conformance.run.selection import Selection, select


def target_of(campaign: Campaign) -> Target:
    """The node, with this process's share of the budgets."""
    options = campaign.options
    profile = load_profile(options.profile) if options.profile else Profile()
    address = options.node_url or profile.base_url
    if campaign.ready_file is not None:
        ready = load_ready_file(campaign.ready_file)
        address, profile = ready.base_url, profile if options.profile else ready
    target = target_for(options, str(address), profile, campaign.seed, of=max(1, campaign.workers))
    target.ends_with_run = campaign.ready_file is not None
    return target


def work(campaign: Campaign, selection: Selection) -> None:
    """Run as a worker: the master sends the cases, the budgets and the end."""
    environment = Environment(user_classes=[CaseUser])
    runner: WorkerRunner

    def begin(environment: Environment, msg: Message) -> None:
        master = CAMPAIGN.validate_python(msg.data["campaign"])
        budgets = master.options
        options = replace(
            campaign.options,
            seed=master.seed,
            max_spend=budgets.max_spend,
            max_gas=budgets.max_gas,
            rate=budgets.rate,
            timeout=budgets.timeout,
            max_timeouts=budgets.max_timeouts,
        )
        target = target_of(replace(campaign, options=options, seed=master.seed, workers=master.workers))
        chosen = set(msg.data["cases"])
        cases = [case for case in selection.loaded if case.id in chosen]
        CaseUser.work = Work(cases, target, environment, place=runner.worker_index)
        target.timings = CaseUser.work.note_timing
        runner.send_message("begun", {"lacks": sorted(chosen - {case.id for case in cases})})

    def halt(environment: Environment, msg: Message) -> None:  # noqa: ARG001 - as Locust calls it
        CaseUser.work.stopping = True

    def report(client_id: str, data: dict[str, object]) -> None:  # noqa: ARG001 - as Locust calls it
        if hasattr(CaseUser, "work"):
            data["cases"], data["ended"] = CaseUser.work.tally.take(), CaseUser.work.ended

    environment.events.report_to_master.add_listener(report)
    runner = environment.create_worker_runner(campaign.host, campaign.port)
    runner.register_message("begin", begin)
    runner.register_message("halt", halt)
    gevent.signal_handler(signal.SIGTERM, runner.quit)
    runner.greenlet.join()


def _with_chaos(campaign: Campaign, selection: Selection, folder: Path) -> int:
    """Direct a campaign against a node of its own, which is disturbed meanwhile."""
    starting = gevent.signal_handler(signal.SIGTERM, sys.exit, ExitCode.INTERRUPTED)
    with World(folder, campaign.program or NODE_PROGRAM) as world:
        starting.cancel()  # `Direction` takes its place
        campaign = replace(campaign, ready_file=world.ready_file)
        target = target_of(campaign)
        chaos = Chaos(world, target, campaign.seed, lambda line: print(line, flush=True))
        return Direction(campaign, selection, target, chaos).run()


def main() -> int:
    """Run the campaign given on standard input and return its exit code."""
    campaign = CAMPAIGN.validate_json(sys.stdin.buffer.read())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the starting process passes on signals
    gevent.signal_handler(signal.SIGHUP, sys.exit, ExitCode.INTERRUPTED)
    end_with_parent(signal.SIGHUP)
    try:
        selection = select(campaign.options)
        if campaign.role is Role.WORKER:
            work(campaign, selection)
            return ExitCode.CONFORMS
        if campaign.chaos and campaign.folder is not None:
            return _with_chaos(campaign, selection, campaign.folder)
        return Direction(campaign, selection, target_of(campaign)).run()
    except LoadProblem as problem:
        print(problem, file=sys.stderr)
    except (Problem, OSError) as problem:
        print(f"service-conformance: {problem}", file=sys.stderr)
    except ConnectionError:
        print(f"service-conformance: no master listens at {campaign.host}:{campaign.port}", file=sys.stderr)
    return ExitCode.USAGE
