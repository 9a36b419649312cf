package attention_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/attention"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// A server that appends the keys and values of a new token to its cache, and attends to all of them. Both launches
// are planned once and can be captured in a CUDA graph.
func ExampleAppend() {
	dev, err := device.Open("emu:sm_89")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// Two sequences of at most 32 keys, four heads of Q that share two of K and V.
	p := attention.Problem{
		Shape: attention.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 32, D: 64}, FormatQ: problem.F16, Scaling: problem.PerToken, Keys: problem.Padded,
	}
	decode, err := attention.New(dev, p)
	if err != nil {
		log.Fatal(err)
	}
	defer decode.Close()
	one := attention.AppendTo(p, problem.F16, 1)
	appends, err := attention.NewAppend(dev, one)
	if err != nil {
		log.Fatal(err)
	}
	defer appends.Close()

	alloc := func(bytes int) device.Buffer {
		buf, err := dev.Alloc(int64(bytes))
		if err == nil {
			err = buf.Write(0, make([]byte, bytes))
		}
		if err != nil {
			log.Fatal(err)
		}
		return buf
	}
	cache, scales := 2*2*32*64, 4*2*2*32
	b := attention.Buffers{
		Q: alloc(2 * 2 * 4 * 64), K: alloc(cache), V: alloc(cache), Ks: alloc(scales), Vs: alloc(scales), O: alloc(2 * 2 * 4 * 64), SeqUsedK: alloc(2 * 4),
	}
	token := attention.AppendBuffers{KNew: alloc(2 * 2 * 2 * 64), VNew: alloc(2 * 2 * 2 * 64), K: b.K, V: b.V, Ks: b.Ks, Vs: b.Vs, CacheSeqlens: alloc(2 * 4)}
	first, err := appends.Plan(one, token)
	if err != nil {
		log.Fatal(err)
	}
	second, err := decode.Plan(p, b)
	if err != nil {
		log.Fatal(err)
	}

	// A step: the values of the new token are 1, and the sequences have one key then.
	stream, err := dev.(device.Streamer).NewStream()
	if err != nil {
		log.Fatal(err)
	}
	o := make([]byte, 2*2*4*64)
	err = errors.Join(
		token.VNew.Write(0, bytes.Repeat([]byte{0x00, 0x3c}, 2*2*64)), b.SeqUsedK.Write(0, []byte{1, 0, 0, 0, 1, 0, 0, 0}),
		first.Queue(stream), second.Queue(stream), stream.Read(b.O, 0, o), stream.Sync(context.Background()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fp8.FromF16s(o)[:4])
	// Output: [1 1 1 1]
}
