module adapter

go 1.19

require (
	github.com/google/go-tdx-guest v0.3.1
	github.com/google/logger v1.1.1
)

require (
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/crypto v0.17.0 // indirect
	golang.org/x/sys v0.15.0 // indirect
	google.golang.org/protobuf v1.31.0 // indirect
)
