// A client's own tests in TypeScript. They need a node, which says in its ready file where it is:
//   reference-node serve --starter-credits 100000 --port 0 --seed-accounts accounts.yaml --ready-file ready.json &
//   READY_FILE=ready.json npm test
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { Contract, JsonRpcProvider, verifyMessage } from "ethers";

interface Seeded { wallets: Record<string, { pkp_id: string; wallet_address: string }>; usage_keys: Record<string, string> }
interface Ready { base_url: string; rpc_url: string; contract_address: string; accounts: Record<string, Seeded> }
interface Wallet { id: string; wallet_address: string }

const SIGN = `async function main({ pkpId, message }) {
  return await Service.Actions.signMessage({ pkpId, message });
}`;
let ready: Ready;

async function call<T>(operation: string, key?: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = key ? { "X-Api-Key": key } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const method = operation.startsWith("list_") ? "GET" : "POST";
  const answer = await fetch(`${ready.base_url}/core/v1/${operation}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`);
  return await answer.json() as T;
}

async function newAccount() {
  const labels = { account_name: "client", account_description: "a test" };
  const { api_key: key } = await call<{ api_key: string }>("new_account", undefined, labels);
  await call("create_wallet", key);
  const [wallet] = await call<Wallet[]>("list_wallets", key);
  const lists = { pkp_ids_permitted: [wallet.id], cid_hashes_permitted: [0] };
  const { group_id: group } = await call<{ group_id: number }>(
    "add_group", key, { group_name: "all", group_description: "every action", ...lists });
  const { usage_api_key: usageKey } = await call<{ usage_api_key: string }>(
    "add_usage_api_key", key, { name: "runner", description: "", execute_in_groups: [group] });
  return { key, wallet, usageKey };
}

before(async () => {
  ready = JSON.parse(await readFile(process.env.READY_FILE ?? "ready.json", "utf8")) as Ready;
});

test("an action signs with the wallet", async () => {
  const { wallet, usageKey } = await newAccount();
  const parameters = { pkpId: wallet.id, message: "hello" };
  const { response } = await call<{ response: string }>("service_action", usageKey, { code: SIGN, jsParams: parameters });
  assert.equal(verifyMessage("hello", response), wallet.wallet_address);
});

test("an account of accounts.yaml is there from the start", async () => {
  const { wallets, usage_keys } = ready.accounts.alice;
  const parameters = { pkpId: wallets.signing.pkp_id, message: "again" };
  const { response } = await call<{ response: string }>(
    "service_action", usage_keys.runner, { code: SIGN, jsParams: parameters });
  assert.equal(verifyMessage("again", response), wallets.signing.wallet_address);
  assert.equal(usage_keys.runner, "BKLYXUKBJL0L2PN9FsgdrbE0wfxSBbbXo5sqcetWizw=");
});

test("a usage key can't make groups", async () => {
  const { usageKey } = await newAccount();
  const group = { group_name: "mine", group_description: "" };
  await assert.rejects(call("add_group", usageKey, group), /403 .*scope-missing/);
});

test("the contract is on the chain", async () => {
  const provider = new JsonRpcProvider(ready.rpc_url);
  assert.notEqual(await provider.getCode(ready.contract_address), "0x");
  assert.ok(new Contract(ready.contract_address, [], provider));
  provider.destroy();
});
