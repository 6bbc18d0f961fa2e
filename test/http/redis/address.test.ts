import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRedisUrl } from "../../../src/config/redis-address.js";

const PLAIN = {
  kind: "server",
  tls: false,
  username: undefined,
  password: undefined,
  database: 0,
  master: undefined,
  sentinel: { username: undefined, password: undefined },
};

test("an address names a server, the master behind Sentinels, or a cluster", () => {
  const cases = {
    "redis://h": { ...PLAIN, nodes: [{ host: "h", port: 6379 }] },
    "redis://h/": { ...PLAIN, nodes: [{ host: "h", port: 6379 }] },
    "redis://[::1]:7000/3": { ...PLAIN, nodes: [{ host: "::1", port: 7000 }], database: 3 },
    "rediss://:p%40s:s@h:1": { ...PLAIN, tls: true, password: "p@s:s", nodes: [{ host: "h", port: 1 }] },
    "redis://name:word@10.0.0.1": {
      ...PLAIN,
      username: "name",
      password: "word",
      nodes: [{ host: "10.0.0.1", port: 6379 }],
    },
    "redis+sentinel://u:p@a,b:26380/main/2?sentinel_username=s&sentinel_password=q": {
      ...PLAIN,
      kind: "sentinel",
      username: "u",
      password: "p",
      nodes: [
        { host: "a", port: 26379 },
        { host: "b", port: 26380 },
      ],
      master: "main",
      database: 2,
      sentinel: { username: "s", password: "q" },
    },
    "rediss+cluster://a:7000,[fd00::2]:7001": {
      ...PLAIN,
      kind: "cluster",
      tls: true,
      nodes: [
        { host: "a", port: 7000 },
        { host: "fd00::2", port: 7001 },
      ],
    },
  };
  for (const [url, expected] of Object.entries(cases)) assert.deepEqual(parseRedisUrl(url), expected, url);
});

test("what cannot be meant is refused rather than guessed", () => {
  for (const url of [
    "http://h",
    "redis://",
    "redis://a,b",
    "redis://h:port",
    "redis://h:70000",
    "redis://h:0",
    "redis://h/name",
    "redis://h/1/2",
    "redis://h?tls=yes",
    "redis://h?sentinel_password=x",
    "redis://h#x",
    "redis://%zz@h",
    "redis+sentinel://a",
    "redis+sentinel://a/",
    "redis+sentinel://a/main/first",
    "redis+cluster://a/1",
    "redis+cluster://a,",
    "redis+other://a",
    "redis://a b",
  ])
    assert.equal(parseRedisUrl(url), undefined, url);
});
