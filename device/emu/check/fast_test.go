package check_test

import _ "github.com/GOATnote-Inc/attest/internal/fasttest"
