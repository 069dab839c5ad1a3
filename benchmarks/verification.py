"""The attestation verifier on a node's evidence, beside the quote library's bare verification of both quotes."""

from __future__ import annotations

import functools
import gc
import json
import statistics
import time
from collections.abc import Callable

import dcap_qvl  # type: ignore[import-untyped]  # its stubs are not marked as such

from benchmarks.timing import Row, in_turn
from conformance.endpoints.bundled import BundledNode
from conformance.verify import Evidence, Policy, Sources, fetch, fetch_and_verify, verify
from conformance.verify.certificates import read_root

ROUNDS = 40


def rows() -> list[Row]:
    """With the fetches on both sides, and without."""
    with BundledNode() as node:
        node.wait_until_ready()
        ready = json.loads(node.ready_file.read_text(encoding="utf-8"))
        around = ready["profile"]["attestation"]
        url, policy = around["base_url"], Policy(root=around["root_certificate"].encode())
        sources = Sources(around["pccs_url"], None, around["resolver"], ready["rpc_url"])
        evidence = fetch(url, policy, sources)

        def fetched_and_verified() -> None:
            _forget()
            assert fetch_and_verify(url, policy, sources)[1].accepted

        def fetched_and_bare() -> None:
            _bare(fetch(url, policy, sources), policy)

        whole, base = in_turn([fetched_and_verified, fetched_and_bare], ROUNDS)

    def verified() -> None:
        _forget()
        assert verify(evidence, policy).accepted

    alone, bare = _processor_time(verified), _processor_time(lambda: _bare(evidence, policy))
    return [
        Row(
            "a node's evidence fetched and verified",
            whole,
            "the same fetches and bare dcap-qvl of both quotes",
            base,
            1.5,
        ),
        Row(
            "a node's evidence verified, all 16 rules, processor time", alone, "bare dcap-qvl of both quotes", bare, 6.0
        ),
    ]


def _processor_time(action: Callable[[], object]) -> float:
    """Median milliseconds of this process: a few of them say nothing by the clock on a busy machine."""
    times: list[float] = []
    for _ in range(5 * ROUNDS):
        began = time.process_time()
        action()
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times)


def _bare(evidence: Evidence, policy: Policy) -> None:
    """Signatures and TCB status of both quotes, and nothing else."""
    collateral = dcap_qvl.QuoteCollateralV3.from_json(evidence["collateral.json"].decode())
    root = read_root(policy.root or b"").der
    at = json.loads(evidence["observed.json"])["at"]
    for name in ("attestation.json", "evidences/quote.json"):
        quote = bytes.fromhex(json.loads(evidence[name])["quote"])
        assert dcap_qvl.verify_with_root_ca(quote, collateral, root, at).status == "UpToDate"


def _forget() -> None:
    """Empty what the verifier keeps of bodies that it has read: a service is verified once."""
    for cache in _caches():
        cache.cache_clear()


@functools.cache
def _caches() -> list[functools._lru_cache_wrapper[object]]:
    found = (item for item in gc.get_objects() if isinstance(item, functools._lru_cache_wrapper))
    return [item for item in found if str(getattr(item, "__module__", "")).startswith("conformance.verify.")]
