package finding

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// race returns a finding in which every field is set.
func race() Finding {
	f := Finding{
		Kind: "shared-race", Severity: Error, Kernel: "k", Message: "write of s+0x4 races with a read by warp 0",
		Place: Place{
			Func: "k", Pos: ptx.Pos{Line: 6, Col: 2}, Source: "k.cu:2:5", Callers: []string{"k.cu:3:1"}, Inst: "st.shared.u32",
			Action: "write", Warp: 1, Lanes: 0b1111,
		},
		Other: &Place{
			Func: "k", Pos: ptx.Pos{Line: 8, Col: 2}, Source: "k.cu:9:1", Inst: "ld.shared.u32",
			Action: "read", Block: [3]int{1, 0, 0}, Lanes: 1 << 7,
		},
		Why: "nothing orders the two accesses", Fix: "put bar.sync between them",
		Waiters: []Waiter{{Place: Place{Warp: 2}, For: "barrier 0"}}, Count: 32,
	}
	f.Touch("shared", "s", 4, 4, "")
	f.Other.Touch("shared", "s", 0, 1, "block 1 of the cluster")
	return f
}

func TestFormat(t *testing.T) {
	at := At(ptx.Pos{Line: 12, Col: 3})
	from := At(ptx.Pos{})
	from.Source = "k.go:7:2"
	both := at
	both.Source = from.Source
	for _, c := range []struct {
		f    Finding
		want string
	}{
		{Finding{Place: at, Severity: Error, Message: "bad"}, "k.ptx:12:3: error: bad"},
		{Finding{Place: both, Severity: Warning, Message: "odd"}, "k.ptx:12:3: warning: odd (k.go:7:2)"},
		{Finding{Place: from, Severity: Error, Message: "bad"}, "k.go:7:2: error: bad"},
		{Finding{Place: At(ptx.Pos{}), Severity: Error, Message: "bad"}, "k.ptx: error: bad"},
	} {
		if got := c.f.Format("k.ptx"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLanes(t *testing.T) {
	for m, want := range map[Lanes]string{
		1 << 31: "lane 31", 0b1111: "lanes 0-3", 0b100001111: "lanes 0-3,8", 1<<32 - 1: "all lanes",
		0x55555555: "lanes 0,2,…,30", 0xaaaaaaaa: "lanes 1,3,…,31", 0x01010101: "lanes 0,8,…,24",
		0b10101: "lanes 0,2,4", 0x55555554 | 1<<31: "lanes 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30-31", 0xffff0000: "lanes 16-31",
	} {
		if got := m.String(); got != want {
			t.Errorf("%08x is %q, want %q", uint32(m), got, want)
		}
	}
}

// TestJSON: the names that programs rely on are there, and nothing is lost.
func TestJSON(t *testing.T) {
	f := race()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"kind":"shared-race","severity":"error","message":"write of`,
		`"ptx_line":6,"ptx_column":2,"instruction":"st.shared.u32","source":"k.cu:2:5","callers":["k.cu:3:1"],"block":[0,0,0],"warp":1,"lanes":[0,1,2,3],` +
			`"function":"k","action":"write","space":"shared","address":"s+0x4","variable":"s","offset":4,"size":4,"kernel":"k",`,
		`"other":{"ptx_line":8,`, `"callers":[],"block":[1,0,0],"warp":0,"lanes":[7],`, `"address":"s of block 1 of the cluster"`,
		`"waiters":[{"ptx_line":0,`, `"waits_for":"barrier 0"}]`, `"count":32,"schedule":0}`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	var back Finding
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(data) || !reflect.DeepEqual(back.Place, f.Place) {
		t.Errorf("read back as\n%s\nwant\n%s", again, data)
	}
	if err := json.Unmarshal([]byte(`{"lanes":[32]}`), &back); err == nil {
		t.Error("lane 32 was read")
	}
}

func TestTouch(t *testing.T) {
	for _, c := range []struct {
		variable string
		offset   int64
		size     int
		owner    string
		want     string
	}{
		{"", 0, 0, "", ""}, {"", 64, 4, "", "0x40"}, {"s", 0, 4, "", "s"}, {"s", -4, 4, "", "s-0x4"},
		{"s", 64, 4, "block 1 of the cluster", "s+0x40 of block 1 of the cluster"},
	} {
		var p Place
		p.Touch("shared", c.variable, c.offset, c.size, c.owner)
		if p.Address != c.want {
			t.Errorf("%+v is %q", c, p.Address)
		}
	}
}
