package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

func get(path string) json.RawMessage {
	response, err := http.Get(os.Args[1] + path)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	return body
}

func read(name string, body json.RawMessage) Sidereal {
	whole, err := json.Marshal(map[string]json.RawMessage{name: body})
	if err != nil {
		panic(err)
	}
	result, err := UnmarshalSidereal(whole)
	if err != nil {
		panic(err)
	}
	return result
}

func main() {
	first := read("page", get("/api/trending?window=7d&limit=2")).Page.Data[0]
	detail := read("detail", get("/api/repos/"+first.Provider+"/"+first.FullName)).Detail.Data
	points := read("series", get("/api/repos/"+first.ID+"/metrics?window=30d")).Series.Data
	failure := read("failure", get("/api/repos/999999999/metrics")).Failure.Error
	fmt.Println(detail.FullName, *detail.Stars, len(points), failure.Code)
}
