// Pays through Stripe's SDK at the server whose address and keys are given, and prints as JSON what came of it.
// Usage: node payments.mjs BASE_URL SECRET_KEY PUBLISHABLE_KEY
import Stripe from 'stripe'

const [baseUrl, secretKey, publishableKey] = process.argv.slice(2)
const { protocol, hostname: host, port } = new URL(baseUrl)
const at = { protocol: protocol.slice(0, -1), host, port, telemetry: false, maxNetworkRetries: 1 }
const merchant = new Stripe(secretKey, at)
const browser = new Stripe(publishableKey, at)

async function refusal (call) {
  try {
    await call
  } catch (error) {
    return { class: error.type, status: error.statusCode, code: error.code, decline: error.decline_code ?? null }
  }
  throw new Error('the call was not refused')
}

const customer = await merchant.customers.create({ email: 'a@example.com', metadata: { wallet: '0x1' } })
const automatic = { enabled: true, allow_redirects: 'never' }
const wanted = { amount: 1000, currency: 'usd', customer: customer.id, automatic_payment_methods: automatic }
const intent = await merchant.paymentIntents.create(wanted, { idempotencyKey: 'k' })
const again = await merchant.paymentIntents.create(wanted, { idempotencyKey: 'k' })
const changed = await refusal(merchant.paymentIntents.create({ ...wanted, amount: 1 }, { idempotencyKey: 'k' }))

const secret = { client_secret: intent.client_secret }
const declined = await refusal(
  browser.paymentIntents.confirm(intent.id, { ...secret, payment_method: 'pm_card_visa_chargeDeclined' })
)
const forbidden = await refusal(browser.customers.create())
const paid = await browser.paymentIntents.confirm(intent.id, { ...secret, payment_method: 'pm_card_visa' })
const found = await merchant.paymentIntents.retrieve(intent.id, { expand: ['latest_charge', 'customer'] })
const refund = await merchant.refunds.create({ payment_intent: intent.id, amount: 400 })

for (let made = 0; made < 11; made++) await merchant.customers.create()
let listed = 0
for await (const each of merchant.customers.list({ limit: 5 })) listed += each.object === 'customer'

console.log(JSON.stringify({
  replayed: again.id === intent.id,
  changed,
  declined,
  forbidden,
  paid: [paid.status, paid.customer ?? null],
  found: [found.status, found.amount_received, found.latest_charge.paid, found.customer.email],
  refund: [refund.amount, refund.status],
  deleted: (await merchant.customers.del(customer.id)).deleted,
  unknown: await refusal(merchant.paymentIntents.retrieve('pi_unknown')),
  listed
}))
