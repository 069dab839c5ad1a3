// Reads a statement of a verdict with Sigstore's packages, and compares it with what a service is measured to run.
// docs/verify.md ("State a verdict") describes the file.
import { createHash, type KeyObject } from "node:crypto";
import { envelopeFromJSON } from "@sigstore/bundle";
import { crypto, dsse } from "@sigstore/core";

const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1";
const REGISTERS = ["app_id", "mrtd", "rtmr0", "rtmr1", "rtmr2"] as const;

interface Descriptor { name: string; uri?: string; digest?: { sha256: string }; annotations?: Record<string, unknown> }
export interface Statement {
  _type: string;
  subject: Descriptor[];
  predicateType: string;
  predicate: { result: string; configuration: Descriptor[]; failedTests: string[] };
}
/** `identity` of `service-conformance verify URL --json`. */
export type Measured = Record<"compose_hash" | (typeof REGISTERS)[number], string>;
/** The answer of `get_node_chain_config`. */
export interface Chain { chain_id: number | string; contract_address: string }
export interface Accepted { results: string[]; mostDays: number; now: Date }

export class Refused extends Error {}

/** The statement in an envelope. Every signature has to be one of these public keys (PEM). */
export function read(envelope: string, signers: string[]): Statement {
  const { payload, payloadType, signatures } = envelopeFromJSON(JSON.parse(envelope));
  if (payloadType !== PAYLOAD_TYPE) throw new Refused(`statement-type: ${payloadType}`);
  if (signatures.length === 0) throw new Refused("statement-signature: there is none");
  const keys = signers.map((pem) => crypto.createPublicKey(pem));
  const signed = dsse.preAuthEncoding(payloadType, payload);
  const used = new Set<KeyObject>();
  for (const { sig, keyid } of signatures) {
    const key = keys.find((one) => (keyid === "" || keyid === idOf(one)) && verifies(one, signed, sig));
    if (key === undefined) throw new Refused("statement-signature: one of a key that is not accepted");
    used.add(key);
  }
  if (used.size !== signatures.length) throw new Refused("statement-signature: two of one key");
  const statement = JSON.parse(payload.toString("utf8")) as Statement;
  if (statement._type !== STATEMENT_TYPE) throw new Refused(`statement-payload: ${statement._type}`);
  if (statement.predicateType !== PREDICATE_TYPE) throw new Refused(`statement-predicate: ${statement.predicateType}`);
  return statement;
}

function idOf(key: KeyObject): string {
  return createHash("sha256").update(key.export({ format: "der", type: "spki" })).digest("hex");
}

function verifies(key: KeyObject, signed: Buffer, signature: Buffer): boolean {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (key.asymmetricKeyType === "ed25519") return crypto.verify(signed, key, signature);
  if (key.asymmetricKeyType === "ec" && curve === "prime256v1") return crypto.verify(signed, key, signature, "sha256");
  throw new Refused(`a signer's key is neither Ed25519 nor ECDSA over P-256`);
}

/** Compare a statement with the service. Throws Refused, with the rule of `service-conformance verify`. */
export function compare(statement: Statement, measured: Measured, chain: Chain, accepted: Accepted): void {
  const contract = `eip155:${BigInt(chain.chain_id)}:${chain.contract_address.toLowerCase()}`;
  const subject = only(statement.subject, "app_compose");
  if (subject.digest?.sha256 !== measured.compose_hash) throw new Refused("judged-code: another app_compose");
  const judged = only(statement.subject, "AccountConfig");
  if (judged.uri !== contract || judged.digest?.sha256 !== createHash("sha256").update(contract).digest("hex"))
    throw new Refused("judged-code: another contract");
  const { result, configuration, failedTests } = statement.predicate;
  for (const name of ["evidence before", "evidence after"]) {
    const notes = only(configuration, name).annotations ?? {};
    for (const register of ["compose_hash", ...REGISTERS] as const)
      if (notes[register] !== measured[register]) throw new Refused(`judged-code: another ${register}, ${name} the run`);
  }
  if (!accepted.results.includes(result) || result === "FAILED" || failedTests.length > 0)
    throw new Refused(`judged-result: ${result}`);
  const finished = Date.parse(String(only(configuration, "run").annotations?.finished));
  const seconds = (accepted.now.getTime() - finished) / 1000;
  if (!(seconds <= accepted.mostDays * 86_400 && seconds >= -300))
    throw new Refused(`judged-time: ${seconds / 86_400} days ago`);
}

function only(entries: Descriptor[], name: string): Descriptor {
  const found = entries.filter((entry) => entry.name === name);
  if (found.length !== 1) throw new Refused(`judged-code: ${name} stands ${found.length} times`);
  return found[0];
}
