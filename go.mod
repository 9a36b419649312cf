module attest

go 1.26
