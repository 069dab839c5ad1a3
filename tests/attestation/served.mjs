// Verifies a TDX quote with @phala/dcap-qvl; the collateral comes from a PCCS over HTTP.
// Usage: node served.mjs QUOTE-FILE ROOT-PEM-FILE PCCS-URL UNIX-SECONDS
//
// It is fetched here: the library's own getCollateral asks for the processor CA's list, whatever CA the quote names.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../examples/attestation-adapters/phala-dcap-qvl/", import.meta.url));
const { QuoteVerifier } = require("@phala/dcap-qvl");

const [quoteFile, rootFile, pccs, at] = process.argv.slice(2);

async function asked(path) {
  const answer = await fetch(`${pccs}/${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const body = Buffer.from(await answer.arrayBuffer());
  return { body, chain: (name) => decodeURIComponent(answer.headers.get(name)) };
}

// What is signed is the document's text as served, which parsing and writing it again would lose.
function signed({ body }, name) {
  const [, text, signature] = new RegExp(`^{"${name}":(.*),"signature":"([0-9a-f]+)"}$`, "s").exec(body.toString());
  return [text, signature];
}

const pckCrl = await asked("sgx/certification/v4/pckcrl?ca=platform&encoding=der");
const rootCrl = await asked("sgx/certification/v4/rootcacrl");
const tcb = await asked("tdx/certification/v4/tcb?fmspc=908060000000");
const qe = await asked("tdx/certification/v4/qe/identity");
const [tcbInfo, tcbInfoSignature] = signed(tcb, "tcbInfo");
const [qeIdentity, qeIdentitySignature] = signed(qe, "enclaveIdentity");
const collateral = {
  pck_crl_issuer_chain: pckCrl.chain("SGX-PCK-CRL-Issuer-Chain"),
  pck_crl: pckCrl.body.toString("hex"),
  root_ca_crl: rootCrl.body.toString(),
  tcb_info_issuer_chain: tcb.chain("TCB-Info-Issuer-Chain"),
  tcb_info: tcbInfo,
  tcb_info_signature: tcbInfoSignature,
  qe_identity_issuer_chain: qe.chain("SGX-Enclave-Identity-Issuer-Chain"),
  qe_identity: qeIdentity,
  qe_identity_signature: qeIdentitySignature,
};
const verifier = QuoteVerifier.newWithRootCa(new X509Certificate(readFileSync(rootFile)).raw);
console.log(verifier.verify(readFileSync(quoteFile), collateral, Number(at)).status);
