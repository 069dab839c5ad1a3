// Pays for the intent of a node through Stripe's SDK, and prints as JSON what came of it and of the merchant's calls.
// Usage: node purchase.mjs BASE_URL SECRET_KEY PUBLISHABLE_KEY CLIENT_SECRET
import Stripe from 'stripe'

const [baseUrl, secretKey, publishableKey, clientSecret] = process.argv.slice(2)
const { protocol, hostname: host, port } = new URL(baseUrl)
const at = { protocol: protocol.slice(0, -1), host, port }
const merchant = new Stripe(secretKey, at)
const browser = new Stripe(publishableKey, at)

const intent = clientSecret.split('_secret_')[0]
const pay = (method) => browser.paymentIntents.confirm(intent, { client_secret: clientSecret, payment_method: method })
const wanted = { amount: 1000, currency: 'usd', automatic_payment_methods: { enabled: true, allow_redirects: 'never' } }

async function refusal (call) {
  try {
    await call
  } catch (error) {
    return [error.constructor.name, error.statusCode, error.code, error.decline_code ?? '']
  }
  throw new Error('the call was not refused')
}

const declined = await refusal(pay('pm_card_visa_chargeDeclined'))
const paid = await pay('pm_card_visa')
const found = await merchant.paymentIntents.retrieve(intent, { expand: ['latest_charge'] })
const given = await merchant.paymentIntents.create(wanted, { idempotencyKey: clientSecret })
const again = await merchant.paymentIntents.create(wanted, { idempotencyKey: clientSecret })
const other = await merchant.paymentIntents.create({ ...wanted, confirm: true, payment_method: 'pm_card_visa' })
const refund = await merchant.refunds.create({ payment_intent: other.id, amount: 400 })
const listed = []
for await (const each of merchant.paymentIntents.list({ limit: 2 })) listed.push(each.id)

console.log(JSON.stringify({
  declined,
  paid: paid.status,
  found: [found.amount_received, found.latest_charge.paid],
  replayed: again.id === given.id,
  canceled: (await merchant.paymentIntents.cancel(given.id)).status,
  refunded: [refund.amount, refund.status],
  listed: [other.id, given.id, intent].every((id, at) => listed[at] === id),
  forbidden: await refusal(browser.paymentIntents.create(wanted)),
  unknown: await refusal(merchant.paymentIntents.retrieve('pi_unknown'))
}))
