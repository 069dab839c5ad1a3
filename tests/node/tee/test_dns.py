"""The simulated DNS: CAA records over UDP and TCP, as clients that nobody here wrote read them."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.resolver
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodes import Running, serving

from reference_node.serving.listening import ServingError
from reference_node.settings import Settings
from reference_node.sockets import bind
from reference_node.tee.dns import Zone, caa_record, respond

DOMAIN = "node.example"
ZONE = Zone.of(
    DOMAIN, {"CAA": [caa_record("issue", "ca.example; accounturi=https://ca.example/1")], "A": ["127.0.0.1"]}
)
MANY = Zone.of(DOMAIN, {"CAA": [caa_record("issue", f"ca{index}.example; x={'y' * 100}") for index in range(20)]})


def wire_answer(zone: Zone, query: dns.message.Message, *, tcp: bool = False) -> bytes:
    wire = respond(zone, query.to_wire(), tcp=tcp)
    assert wire is not None
    return wire


@pytest.fixture(scope="module")
def named() -> Iterator[Running]:
    with serving(Settings(port=0, dns_port=0)) as running:
        yield running


def address(running: Running) -> tuple[str, int]:
    host, _, port = str(running.ready["profile"]["attestation"]["resolver"]).rpartition(":")
    return host, int(port)


@pytest.mark.parametrize(
    ("name", "kind", "status", "answers"),
    [
        (DOMAIN, "CAA", dns.rcode.NOERROR, 1),
        ("NODE.Example", "CAA", dns.rcode.NOERROR, 1),
        (DOMAIN, "A", dns.rcode.NOERROR, 1),
        (DOMAIN, "ANY", dns.rcode.NOERROR, 2),
        (DOMAIN, "AAAA", dns.rcode.NOERROR, 0),
        (DOMAIN, "TXT", dns.rcode.NOERROR, 0),
        ("example", "CAA", dns.rcode.NOERROR, 0),
        (".", "CAA", dns.rcode.NOERROR, 0),
        (f"other.{DOMAIN}", "CAA", dns.rcode.NXDOMAIN, 0),
        ("other.example", "CAA", dns.rcode.NXDOMAIN, 0),
        ("mynode.example", "A", dns.rcode.NXDOMAIN, 0),
    ],
)
def test_names_and_types_are_told_apart(name: str, kind: str, status: int, answers: int) -> None:
    query = dns.message.make_query(name, kind)
    answer = dns.message.from_wire(wire_answer(ZONE, query))
    assert query.is_response(answer)
    assert answer.flags & dns.flags.AA
    assert (answer.rcode(), len(answer.answer)) == (status, answers)
    assert [records.rdtype for records in answer.authority] == ([] if answers else [dns.rdatatype.SOA])


@pytest.mark.parametrize(("payload", "most"), [(None, 512), (600, 600), (100, 512), (4096, 1232)])
def test_answer_that_does_not_fit_is_truncated(payload: int | None, most: int) -> None:
    options = {} if payload is None else {"use_edns": 0, "payload": payload}
    query = dns.message.make_query(DOMAIN, "CAA", **options)  # type: ignore[arg-type]
    wire = wire_answer(MANY, query)
    assert len(wire) <= most
    assert dns.message.from_wire(wire).flags & dns.flags.TC
    answer = dns.message.from_wire(wire_answer(MANY, query, tcp=True))
    assert (answer.flags & dns.flags.TC, len(answer.answer[0])) == (0, 20)


NOTIFY = dns.message.make_query(DOMAIN, "SOA")
NOTIFY.set_opcode(dns.opcode.NOTIFY)
TWICE = dns.message.make_query(DOMAIN, "CAA")
TWICE.question.append(TWICE.question[0])


@pytest.mark.parametrize(
    ("query", "code"),
    [
        pytest.param(dns.message.make_query(DOMAIN, "CAA", "CH"), dns.rcode.REFUSED, id="other class"),
        pytest.param(dns.message.make_query(DOMAIN, "AXFR"), dns.rcode.REFUSED, id="transfer"),
        pytest.param(NOTIFY, dns.rcode.NOTIMP, id="notify"),
        pytest.param(TWICE, dns.rcode.FORMERR, id="two questions"),
        pytest.param(dns.message.make_query(DOMAIN, "CAA", use_edns=1), dns.rcode.BADVERS, id="later EDNS"),
    ],
)
def test_question_that_is_not_answered_is_refused_by_name(query: dns.message.Message, code: dns.rcode.Rcode) -> None:
    answer = dns.message.from_wire(wire_answer(ZONE, query))
    assert (answer.rcode(), answer.id, answer.answer) == (code, query.id, [])


@given(
    st.binary(max_size=80) | st.binary(min_size=12, max_size=60).map(lambda tail: b"\x12\x34\x01\x00\x00\x01" + tail)
)
def test_any_bytes_get_an_answer_or_silence(wire: bytes) -> None:
    for tcp in (False, True):
        answer = respond(ZONE, wire, tcp=tcp)
        assert answer is None or (answer[:2] == wire[:2] and answer[2] & 0x80)


def test_answers_are_never_answered() -> None:
    answer = dns.message.make_response(dns.message.make_query(DOMAIN, "CAA"))
    assert respond(ZONE, answer.to_wire(), tcp=False) is None


def test_node_names_its_account_in_every_record(named: Running) -> None:
    account = named.http.get("/evidences/acme-account.json").json()["uri"]
    resolver = dns.resolver.Resolver(configure=False)
    host, resolver.port = address(named)
    resolver.nameservers = [host]
    for tcp in (False, True):
        records = resolver.resolve(DOMAIN, "CAA", tcp=tcp)
        assert {record.tag for record in records} == {b"issue", b"issuewild"}
        values = {record.value.decode() for record in records}
        assert values == {f"acme.example; validationmethods=dns-01; accounturi={account}"}


def test_tcp_connection_takes_several_questions(named: Running) -> None:
    with socket.create_connection(address(named), timeout=60) as connection:
        for kind in ("CAA", "A", "TXT"):
            query = dns.message.make_query(DOMAIN, kind)
            dns.query.send_tcp(connection, query)
            answer, _ = dns.query.receive_tcp(connection)
            assert query.is_response(answer)


def test_malformed_messages_leave_the_server_running(named: Running) -> None:
    where = address(named)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for wire in (b"", b"x", b"\x00" * 12, b"\xff" * 600, b"\x12\x34\x01\x00\x00\x01" + b"\xc0" * 40):
            sender.sendto(wire, where)
    for start in (b"\x00\x05abcde", b"\xff\xff" + b"x" * 100, b"\x00", b"\x00\x00"):
        with socket.create_connection(where, timeout=60) as connection:
            connection.sendall(start)
    for ask in (dns.query.udp, dns.query.tcp):
        assert ask(dns.message.make_query(DOMAIN, "CAA"), where[0], timeout=60, port=where[1]).answer


def test_node_on_ipv6_answers_at_the_addresses_that_it_tells() -> None:
    with serving(Settings(host="::1", port=0, dns_port=0)) as running:
        assert str(running.ready["base_url"]).startswith("http://[::1]:")
        assert httpx.get(f"{running.ready['base_url']}/info", timeout=60).status_code == 200
        host, port = address(running)
        assert host == "[::1]"
        for ask in (dns.query.udp, dns.query.tcp):
            answer = ask(dns.message.make_query(DOMAIN, "AAAA"), "::1", timeout=60, port=port).answer
            assert [str(record) for records in answer for record in records] == ["::1"]


def test_dns_port_in_use_is_one_clear_line() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ServingError, match=rf"127.0.0.1:{port} is in use: .*--dns-port"):
            bind(Settings(port=0, dns_port=port))
