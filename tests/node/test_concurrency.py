"""Many writes at once: each is on chain exactly once, and no list shows a half of one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from nodes import Running

WRITES = 200


def test_200_concurrent_writes_are_all_accounted_for(running: Running) -> None:
    accounts = [running.account() for _ in range(4)]

    def write(number: int) -> int:
        created = running.done("add_group", accounts[number % 4], group_name=str(number), group_description="d")
        return int(created["group_id"])

    with ThreadPoolExecutor(20) as pool:
        ids = list(pool.map(write, range(WRITES)))
    for which, account in enumerate(accounts):
        groups = running.read("list_groups", account, page_size=100)
        told = {ids[number]: str(number) for number in range(which, WRITES, 4)}
        assert {group["id"]: group["name"] for group in groups} == told
        assert [group["id"] for group in groups] == list(range(1, WRITES // 4 + 1))


def test_two_writes_that_exclude_each_other_are_decided_once(running: Running, account: str) -> None:
    group = running.group(account)
    wallet = running.wallet(account)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(
            pool.map(
                lambda _: running.post("add_pkp_to_group", account, group_id=group, pkp_id=wallet).status_code, range(8)
            )
        )
    assert sorted(statuses) == [200] + [409] * 7
    assert len(running.read("list_wallets_in_group", account, group_id=group)) == 1
