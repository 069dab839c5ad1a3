// Everything that this page asks of the node: its API under /core/v1, the chain under /rpc, the payment provider under /stripe.
import { Contract, JsonRpcProvider, Wallet, ZeroHash, decodeBase64, keccak256, verifyMessage } from "ethers";

const ABI = [
  "function newChainSecuredAccount(string name, string description)",
  "function registerWalletDerivation(uint256 account, address wallet, uint256 derivationPath, string name, string description)",
  `function listWallets(uint256 account, uint256 page, uint256 size) view returns (
     (bytes32 id, address walletAddress, uint256 derivationPath, string name, string description)[])`,
  "function addGroup(uint256 account, string name, string description, bytes32[] pkpIds, bytes32[] cidHashes) returns (uint64)",
  `function setUsageApiKey(uint256 account, uint256 keyHash, uint256 expiration, uint256 balance, string name,
     string description, bool canCreateGroups, bool canDeleteGroups, bool canCreatePkps, uint64[] manageIpfsIdsInGroups,
     uint64[] addPkpToGroups, uint64[] removePkpFromGroups, uint64[] executeInGroups)`,
];
const EVERY_ACTION = ZeroHash;
const CODE = `async function main({ pkpId }) {
  return await Service.Actions.signMessage({ pkpId, message: "hello from a page" });
}`;

const node = await (await fetch("node.json")).json();

async function call(path, { headers = {}, body } = {}) {
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(`${node}/core/v1/${path}`, {
    method, headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${told.detail} (request ${answer.headers.get("X-Request-Id")})`);
  return told;
}

/** An EIP-712 envelope of the wallet, for five minutes, with its signature. */
async function signed(wallet, chainId, primaryType) {
  const fields = [{ name: "address", type: "address" }, { name: "issuedAt", type: "uint256" }];
  const domain = { name: "Service ChainSecured", version: "1", chainId: String(chainId) };
  const message = { address: wallet.address, issuedAt: String(Math.floor(Date.now() / 1000)) };
  const EIP712Domain = [
    { name: "name", type: "string" }, { name: "version", type: "string" }, { name: "chainId", type: "uint256" },
  ];
  const signature = await wallet.signTypedData(domain, { [primaryType]: fields }, message);
  return { typed_data: { types: { EIP712Domain, [primaryType]: fields }, primaryType, domain, message }, signature };
}

/** Pay with a test card at the payment provider, as its own library does in a page: nothing secret is needed. */
async function payByCard(clientSecret, publishableKey) {
  const [intent] = clientSecret.split("_secret_");
  const answer = await fetch(`${node}/stripe/v1/payment_intents/${intent}/confirm`, {
    method: "POST",
    headers: { Authorization: `Bearer ${publishableKey}` },
    body: new URLSearchParams({ client_secret: clientSecret, payment_method: "pm_card_visa" }),
  });
  const { status, error } = await answer.json();
  if (status !== "succeeded") throw new Error(`the card was not charged: ${error?.message ?? status}`);
  return intent;
}

async function run(step) {
  const chain = await call("get_node_chain_config");
  const provider = new JsonRpcProvider(`${node}/rpc`, chain.chain_id, { staticNetwork: true, cacheTimeout: -1 });
  const wallet = new Wallet(Wallet.createRandom().privateKey, provider);
  const contract = new Contract(chain.contract_address, ABI, wallet);
  const account = keccak256(wallet.address);
  const write = async (name, ...given) => await (await contract[name](account, ...given)).wait();
  const byWallet = async () => ({ "X-Wallet-Auth": btoa(JSON.stringify(await signed(wallet, chain.chain_id, "BillingAuth"))) });
  await step("A wallet of the page", () => wallet.address);

  await step("Gas for it, from the application's server", async () => {
    const answer = await fetch(`gas?address=${wallet.address}`, { method: "POST" });
    if (!answer.ok) throw new Error(`no gas: ${await answer.text()}`);
    return `${await provider.getBalance(wallet.address)} wei`;
  });
  await step("An account on the chain that the wallet owns", async () => {
    await (await contract.newChainSecuredAccount("page", "a page's account")).wait();
    return account;
  });
  const minted = await step("A wallet minted by signature", async () => {
    const made = await call("create_wallet_with_signature", { body: await signed(wallet, chain.chain_id, "CreateWallet") });
    await write("registerWalletDerivation", made.wallet_address, made.derivation_path, "signing", "");
    return made.wallet_address;
  });
  const [{ id: pkpId }] = await contract.listWallets(account, 0, 1);
  const group = await step("A group that lets every action use it", async () => {
    const given = ["page", "", [pkpId], [EVERY_ACTION]];
    const id = await contract.addGroup.staticCall(account, ...given);
    await write("addGroup", ...given);
    return id;
  });
  const usageKey = await step("A usage key that may run actions in it", async () => {
    const body = await signed(wallet, chain.chain_id, "AddUsageApiKey");
    const made = await call("add_usage_api_key_with_signature", { body });
    await write("registerWalletDerivation", made.wallet_address, made.derivation_path, "key", "");
    const keyHash = keccak256(decodeBase64(made.usage_api_key));
    await write("setUsageApiKey", keyHash, 0, 0, "runner", "", false, false, false, [], [], [], [group]);
    return made.usage_api_key;
  });
  await step("Credits, paid with a test card", async () => {
    const { client_secret: secret } = await call(
      "billing/create_payment_intent", { headers: await byWallet(), body: { amount_cents: 500 } });
    const { publishable_key: key } = await call("billing/stripe_config");
    const body = { payment_intent_id: await payByCard(secret, key) };
    await call("billing/confirm_payment", { headers: await byWallet(), body });
    return (await call("billing/balance", { headers: await byWallet() })).balance_display;
  });
  await step("An action that signs, run with the usage key", async () => {
    const body = { code: CODE, jsParams: { pkpId } };
    const { response } = await call("service_action", { headers: { "X-Api-Key": usageKey }, body });
    if (verifyMessage("hello from a page", response) !== minted) throw new Error("somebody else signed");
    return `signed by ${minted}`;
  });
}

async function shown(title, work) {
  const line = document.querySelector("#steps").appendChild(document.createElement("li"));
  line.textContent = `${title}: `;
  const result = await work();
  line.appendChild(document.createElement("code")).textContent = result;
  return result;
}

const [button, outcome] = ["#run", "#outcome"].map((name) => document.querySelector(name));
button.addEventListener("click", async () => {
  button.disabled = true;
  document.querySelector("#steps").replaceChildren();
  outcome.className = outcome.textContent = "";
  try {
    await run(shown);
    outcome.textContent = "All steps succeeded.";
  } catch (fault) {
    outcome.className = "failed";
    outcome.textContent = fault instanceof TypeError
      ? `${fault.message}: does the node run, with --allow-origin ${location.origin}?` : fault.message;
  }
  button.disabled = false;
});
