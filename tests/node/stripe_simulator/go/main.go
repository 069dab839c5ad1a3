// As js/purchase.mjs: purchase BASE_URL SECRET_KEY PUBLISHABLE_KEY CLIENT_SECRET
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

var ctx = context.Background()

func client(baseURL, key string) *stripe.Client {
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{URL: stripe.String(baseURL)})
	return stripe.NewClient(key, stripe.WithBackends(backends))
}

func wanted() *stripe.PaymentIntentCreateParams {
	return &stripe.PaymentIntentCreateParams{
		Amount:   stripe.Int64(1000),
		Currency: stripe.String("usd"),
		AutomaticPaymentMethods: &stripe.PaymentIntentCreateAutomaticPaymentMethodsParams{
			Enabled:        stripe.Bool(true),
			AllowRedirects: stripe.String("never"),
		},
	}
}

func must[T any](value T, err error) T {
	var refused *stripe.Error
	if errors.As(err, &refused) {
		log.Fatalf("%T: %s", refused.Err, refused.Msg)
	} else if err != nil {
		log.Fatal(err)
	}
	return value
}

func refusal[T any](_ T, err error) []any {
	var refused *stripe.Error
	if !errors.As(err, &refused) {
		log.Fatalf("the call was not refused by Stripe: %v", err)
	}
	return []any{fmt.Sprintf("%T", refused.Err), refused.HTTPStatusCode, refused.Code, refused.DeclineCode}
}

func main() {
	baseURL, secretKey, publishableKey, clientSecret := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	merchant, browser := client(baseURL, secretKey), client(baseURL, publishableKey)
	intent, _, _ := strings.Cut(clientSecret, "_secret_")
	pay := func(method string) (*stripe.PaymentIntent, error) {
		params := &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method)}
		params.AddExtra("client_secret", clientSecret)
		return browser.V1PaymentIntents.Confirm(ctx, intent, params)
	}
	create := func() *stripe.PaymentIntent {
		params := wanted()
		params.SetIdempotencyKey(clientSecret)
		return must(merchant.V1PaymentIntents.Create(ctx, params))
	}

	declined := refusal(pay("pm_card_visa_chargeDeclined"))
	paid := must(pay("pm_card_visa"))
	expanded := &stripe.PaymentIntentRetrieveParams{}
	expanded.AddExpand("latest_charge")
	found := must(merchant.V1PaymentIntents.Retrieve(ctx, intent, expanded))
	given, again := create(), create()
	confirmed := wanted()
	confirmed.Confirm, confirmed.PaymentMethod = stripe.Bool(true), stripe.String("pm_card_visa")
	other := must(merchant.V1PaymentIntents.Create(ctx, confirmed))
	refund := must(merchant.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(other.ID),
		Amount:        stripe.Int64(400),
	}))
	page := &stripe.PaymentIntentListParams{}
	page.Limit = stripe.Int64(2)
	listed := []string{}
	merchant.V1PaymentIntents.List(ctx, page).All(ctx)(func(each *stripe.PaymentIntent, err error) bool {
		listed = append(listed, must(each, err).ID)
		return len(listed) < 3
	})

	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"declined":  declined,
		"paid":      paid.Status,
		"found":     []any{found.AmountReceived, found.LatestCharge.Paid},
		"replayed":  again.ID == given.ID,
		"canceled":  must(merchant.V1PaymentIntents.Cancel(ctx, given.ID, nil)).Status,
		"refunded":  []any{refund.Amount, refund.Status},
		"listed":    strings.Join(listed, " ") == strings.Join([]string{other.ID, given.ID, intent}, " "),
		"forbidden": refusal(browser.V1PaymentIntents.Create(ctx, wanted())),
		"unknown":   refusal(merchant.V1PaymentIntents.Retrieve(ctx, "pi_unknown", nil)),
	})
}
