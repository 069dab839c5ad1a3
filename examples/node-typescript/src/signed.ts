/** Wallet-signed flows: typed data is checked as Authentication, item 6 says; nothing is registered on a chain. */

import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { verifyTypedData } from "ethers";
import { CHAIN_ID } from "./chain.js";
import { address, anyObject, object, signature, text, utf8, type ValueOf } from "./fields.js";
import { conflict, forbidden, malformed, Problem } from "./problems.js";
import { keyed, open, type Route } from "./routes.js";
import type { Node } from "./state.js";
import { addressOf } from "./wallets.js";

const DOMAIN = { name: "Harbour ChainSecured", version: "1", chainId: CHAIN_ID };
const DOMAIN_FIELDS = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
];
const MESSAGE_FIELDS = [
  { name: "address", type: "address" },
  { name: "issuedAt", type: "uint256" },
];
/** Of the typed data without white space. */
const MAX_BYTES = 4096;
const WINDOW_SECONDS = 300;
/** The order n of secp256k1. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const envelope = object({ types: anyObject, primaryType: text, domain: anyObject, message: anyObject });
const message = object({ address, issuedAt: text });
/** Both fields of a proof; `typed_data` is the serialised JSON, in a string. */
const proofFields = { typed_data: text, signature };
const proofBody = object(proofFields);

const rejected = (detail: string) => new Problem(403, "signature-rejected", detail);

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw malformed("The typed data is no JSON");
  }
}

function requireRecent(issuedAt: string, node: Node): void {
  if (!/^[0-9]{1,12}$/.test(issuedAt)) throw rejected("issuedAt: expected Unix seconds in a string");
  const age = Date.now() / 1000 - Number(issuedAt);
  const tooNew = node.fault !== "issued-in-future" && age < -WINDOW_SECONDS;
  if (age > WINDOW_SECONDS || tooNew) throw rejected(`issuedAt: more than ${WINDOW_SECONDS} s from the node's time`);
}

/** The wallet that signed this proof for this flow. */
function signer(proof: ValueOf<typeof proofBody>, primaryType: string, node: Node): string {
  const given = parse(proof.typed_data);
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_BYTES) throw rejected("The typed data is over 4 KiB");
  const data = envelope.read(given, "typed_data");
  const types = { EIP712Domain: DOMAIN_FIELDS, [primaryType]: MESSAGE_FIELDS };
  if (data.primaryType !== primaryType) throw rejected(`primaryType: expected ${primaryType}`);
  if (!isDeepStrictEqual(data.types, types)) throw rejected("types: not the canonical shape");
  if (!isDeepStrictEqual(data.domain, DOMAIN)) throw rejected("domain: not that of this node");
  const claim = message.read(data.message, "message");
  requireRecent(claim.issuedAt, node);
  if (recovered(primaryType, claim, proof.signature) !== claim.address) {
    throw rejected("The signature is not that of message.address");
  }
  return claim.address;
}

/** The same signature with the smaller of its two s: ethers reads no other. Nothing here depends on its being unique. */
function lowS(bytes: string): string {
  const s = BigInt(`0x${bytes.slice(66, 130)}`);
  if (s <= CURVE_ORDER / 2n) return bytes;
  return bytes.slice(0, 66) + (CURVE_ORDER - s).toString(16).padStart(64, "0") + (bytes.endsWith("1b") ? "1c" : "1b");
}

function recovered(primaryType: string, claim: ValueOf<typeof message>, bytes: string): string | null {
  try {
    return verifyTypedData(DOMAIN, { [primaryType]: MESSAGE_FIELDS }, claim, lowS(bytes)).toLowerCase();
  } catch {
    return null;
  }
}

/**
 * The wallet behind an `X-Wallet-Auth` header: base64url of the JSON `{"typed_data": "…", "signature": "0x…"}`. The
 * wallet of a managed account is refused: that account has a key.
 */
export function walletProof(header: string, node: Node): string {
  const proof = proofBody.read(parse(utf8(Buffer.from(header, "base64url"))), "X-Wallet-Auth");
  const wallet = signer(proof, "BillingAuth", node);
  if (node.accountsOf(wallet).some(({ managed }) => managed)) throw forbidden("The wallet's account has a key");
  return wallet;
}

export const signedRoutes: readonly Route[] = [
  open({
    method: "POST",
    path: "/create_wallet_with_signature",
    access: "open",
    status: 201,
    reads: proofBody,
    handle({ node, fields }) {
      signer(fields, "CreateWallet", node);
      const pkp = node.mint();
      return { wallet_address: addressOf(pkp), derivation_path: pkp.path };
    },
  }),
  open({
    method: "POST",
    path: "/add_usage_api_key_with_signature",
    access: "open",
    status: 201,
    reads: proofBody,
    handle({ node, fields }) {
      signer(fields, "AddUsageApiKey", node);
      const pkp = node.mint();
      const secret = randomBytes(32).toString("base64");
      return { usage_api_key: secret, wallet_address: addressOf(pkp), derivation_path: pkp.path };
    },
  }),
  keyed({
    method: "POST",
    path: "/convert_to_chain_secured_account",
    access: "account",
    status: 204,
    charged: "write",
    reads: object({ ...proofFields, new_admin_wallet_address: address }),
    handle({ node, caller, fields }) {
      const admin = signer(fields, "ConvertAccount", node);
      if (admin !== fields.new_admin_wallet_address) throw rejected("message.address is not the new admin");
      if (node.accountsOf(admin).length > 0) throw conflict("The wallet is the admin of another account");
      caller.account.admin = admin;
      caller.account.managed = false;
    },
  }),
];
