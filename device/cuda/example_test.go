package cuda_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// This program uses streams. It runs on the GPU if there is one, and else on the emulator.
func ExampleOpen() {
	dev, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	mod, err := dev.Load("count.ptx", countText)
	if err != nil {
		log.Fatal(err)
	}
	defer mod.Close()
	if err := count(dev, mod); err != nil {
		log.Fatal(err)
	}
	// Output: 400 blocks ran
}

func open() (device.Streamer, error) {
	dev, err := cuda.Open(0)
	if errors.Is(err, device.ErrNoDevice) { // a normal case: most machines have no GPU
		return emu.New(ptx.SM90a, emu.Options{})
	}
	return dev, err
}

// count replays a graph of 100 launches of two blocks twice.
func count(dev device.Streamer, mod device.Module) error {
	kernel, err := mod.Kernel("count")
	if err != nil {
		return err
	}
	word, err := dev.Alloc(4)
	if err != nil {
		return err
	}
	defer word.Free()
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	launch := device.Launch{Grid: device.D(2), Block: device.D(32), Params: []device.Param{device.Ptr(word), device.U32(1)}}
	graph, err := dev.NewGraph(func(s device.Stream) error {
		for range 100 {
			if err := s.Launch(kernel, launch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer graph.Close()
	result := make([]byte, 4)
	err = errors.Join(
		stream.Fill(word, 0), graph.Replay(stream), graph.Replay(stream),
		stream.Read(word, 0, result), stream.Sync(context.Background()))
	fmt.Println(binary.LittleEndian.Uint32(result), "blocks ran")
	return err
}
