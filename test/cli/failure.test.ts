import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { failureOf } from "../../src/cli/failure.js";
import { loadConfig } from "../../src/config/config.js";
import { DatabaseFault, type FaultKind, StoreRefused } from "../../src/database/fault.js";

const onFile = loadConfig({ SIDEREAL_DATA_DIR: "/var/lib/store", SIDEREAL_METRICS_PORT: "9100" });
const onServer = loadConfig({ SIDEREAL_DATABASE_URL: "postgres://u:hunter2@db.example:5433/s" });

const errorWith = (message: string, facts: object = {}): Error => Object.assign(new Error(message), facts);
const fault = (kind: FaultKind, message: string, facts: object = {}): Error =>
  new DatabaseFault(kind, errorWith(message, facts));
const ofFile = (code: string, path: string): Error =>
  errorWith(`${code}: open '${path}'`, { code, path, syscall: "open", errno: -1 });

/** What an operator can mend, and how. */
const PERMANENT: readonly [Error, typeof onFile, string][] = [
  [
    errorWith("listen EADDRINUSE: 127.0.0.1:3000", { code: "EADDRINUSE", syscall: "listen", port: 3000 }),
    onFile,
    "Another program uses port 3000 (listen EADDRINUSE: 127.0.0.1:3000): stop it, or set SIDEREAL_PORT to another port.",
  ],
  [
    errorWith("listen EADDRINUSE: 127.0.0.1:9100", { code: "EADDRINUSE", syscall: "listen", port: 9100 }),
    onServer,
    "Another program uses port 9100 (listen EADDRINUSE: 127.0.0.1:9100): stop it, or set SIDEREAL_PORT to another port.",
  ],
  [
    errorWith("listen EADDRINUSE: 127.0.0.1:9100", { code: "EADDRINUSE", syscall: "listen", port: 9100 }),
    onFile,
    "Another program uses port 9100 (listen EADDRINUSE: 127.0.0.1:9100): stop it, or set SIDEREAL_METRICS_PORT to another port.",
  ],
  [
    errorWith("listen EACCES: 0.0.0.0:80", { code: "EACCES", syscall: "listen", port: 80 }),
    onFile,
    "This user may not open port 80 (listen EACCES: 0.0.0.0:80): set SIDEREAL_PORT to 1024 or more.",
  ],
  [
    errorWith("listen EADDRNOTAVAIL: 192.0.2.1", { code: "EADDRNOTAVAIL", syscall: "listen" }),
    onFile,
    "This machine has no such address to listen on (listen EADDRNOTAVAIL: 192.0.2.1): correct SIDEREAL_HOST.",
  ],
  [
    errorWith("getaddrinfo ENOTFOUND nowhere", { code: "ENOTFOUND", syscall: "getaddrinfo" }),
    onServer,
    "This machine has no such address to listen on (getaddrinfo ENOTFOUND nowhere): correct SIDEREAL_HOST.",
  ],
  [
    errorWith("ENOSPC: write", { code: "ENOSPC", syscall: "write" }),
    onFile,
    "The disk is full (ENOSPC: write): free space on it.",
  ],
  // Reading a folder names no path.
  [
    errorWith("EISDIR: illegal operation on a directory, read", { code: "EISDIR", syscall: "read" }),
    onServer,
    "A folder is named where a file is needed (EISDIR: illegal operation on a directory, read): name a file.",
  ],
  ...["EACCES", "EROFS", "EEXIST", "ENOTDIR"].map((code): [Error, typeof onFile, string] => [
    ofFile(code, "/var/lib/store/sidereal.db"),
    onFile,
    `The data folder /var/lib/store cannot be used (${code}: open '/var/lib/store/sidereal.db'): let this user write there, or set SIDEREAL_DATA_DIR to another folder.`,
  ]),
  [
    ofFile("EACCES", "/var/lib/store-of-others/x"),
    onFile,
    "A file cannot be used (EACCES: open '/var/lib/store-of-others/x'): correct its path or its rights.",
  ],
  [
    fault("unavailable", "attempt to write a readonly database", { errcode: 8 }),
    onFile,
    "The data folder /var/lib/store cannot be used (attempt to write a readonly database): let this user write there, or set SIDEREAL_DATA_DIR to another folder.",
  ],
  [
    fault("full", "database or disk is full", { errcode: 13 }),
    onFile,
    "The disk of /var/lib/store is full (database or disk is full): free space on it.",
  ],
  [
    fault("busy", "database is locked", { errcode: 261 }),
    onFile,
    "Another process locks the database in /var/lib/store (database is locked): end it, then try again.",
  ],
  [
    fault("unavailable", "disk I/O error", { errcode: 522 }),
    onFile,
    'The disk of /var/lib/store fails (disk I/O error): check it, then run "sidereal check".',
  ],
  [
    errorWith("file is not a database", { errcode: 26 }),
    onFile,
    'The database in /var/lib/store is damaged (file is not a database): run "sidereal check", or restore a backup.',
  ],
  [
    errorWith("database disk image is malformed", { errcode: 779 }),
    onFile,
    'The database in /var/lib/store is damaged (database disk image is malformed): run "sidereal check", or restore a backup.',
  ],
  [new StoreRefused("Newer. Update."), onFile, "Newer. Update."],
  [
    fault("unavailable", "password authentication failed", { code: "28P01" }),
    onServer,
    "The database server at db.example:5433 refuses the user (password authentication failed): correct the user and the password in SIDEREAL_DATABASE_URL.",
  ],
  [
    fault("unavailable", "SASL: client password must be a string"),
    onServer,
    "The database server at db.example:5433 refuses the user (SASL: client password must be a string): correct the user and the password in SIDEREAL_DATABASE_URL.",
  ],
  [
    fault("unavailable", 'database "s" does not exist', { code: "3D000" }),
    onServer,
    'The database server at db.example:5433 has no such database (database "s" does not exist): create it, or correct SIDEREAL_DATABASE_URL.',
  ],
  [
    errorWith("permission denied for schema public", { code: "42501" }),
    onServer,
    "The database server at db.example:5433 denies a right (permission denied for schema public): let the user in SIDEREAL_DATABASE_URL create tables.",
  ],
  [
    fault("full", "could not extend file", { code: "53100" }),
    onServer,
    "The database server at db.example:5433 has a full disk (could not extend file): free space on it.",
  ],
  [
    fault("unavailable", "ENOENT: open '/ca.pem'", { code: "ENOENT", syscall: "open", path: "/ca.pem" }),
    onServer,
    "A file that SIDEREAL_DATABASE_URL names cannot be read (ENOENT: open '/ca.pem'): correct its path.",
  ],
  ...(
    [
      ["self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT"],
      ["unable to verify the first certificate", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
      ["Hostname/IP does not match", "ERR_TLS_CERT_ALTNAME_INVALID"],
      ["The server does not support SSL connections", undefined],
    ] as const
  ).map(([message, code]): [Error, typeof onFile, string] => [
    fault("unavailable", message, { code }),
    onServer,
    `The database server at db.example:5433 cannot be reached over TLS (${message}): correct sslmode and sslrootcert in SIDEREAL_DATABASE_URL.`,
  ]),
];

test("a failure that the operator can mend is one sentence with what to do", () => {
  for (const [error, config, sentence] of PERMANENT)
    assert.deepEqual(failureOf(error, config), { sentence, mayPass: false });
});

test("a server that cannot be reached yet, or has no connection left, may be waited for", () => {
  const waits = (error: Error) => failureOf(error, onServer);
  const refused = errorWith("connect ECONNREFUSED 10.0.0.1:5433", {
    code: "ECONNREFUSED",
    syscall: "connect",
  });
  assert.deepEqual(waits(new DatabaseFault("unavailable", refused)), {
    sentence:
      "The database server at db.example:5433 cannot be reached (connect ECONNREFUSED 10.0.0.1:5433): start it, or correct SIDEREAL_DATABASE_URL.",
    mayPass: true,
  });
  for (const facts of [
    { code: "ENOTFOUND", syscall: "getaddrinfo" },
    { code: "ENOENT", syscall: "connect" },
    { code: "57P03" },
    {},
  ])
    assert.equal(waits(fault("unavailable", "x", facts))?.mayPass, true, JSON.stringify(facts));
  assert.deepEqual(waits(fault("busy", "sorry, too many clients already", { code: "53300" })), {
    sentence:
      "The database server at db.example:5433 is busy (sorry, too many clients already): try again later, or let it take more connections.",
    mayPass: true,
  });
});

test("the server is named without a secret, whatever form its address has", () => {
  const names = {
    "postgres:///s?host=/run/postgresql": "/run/postgresql",
    "postgres://u:hunter2@/s": "localhost",
    "postgres://u:hunter2@[::1]:5433/s": "[::1]:5433",
  };
  for (const [url, name] of Object.entries(names)) {
    const { sentence } =
      failureOf(fault("unavailable", "x"), loadConfig({ SIDEREAL_DATABASE_URL: url })) ?? {};
    assert.match(sentence ?? "", /^The database server at \S+ cannot be reached \(x\)/);
    assert.equal(sentence?.split(" ")[4], name);
  }
});

test("a fault of the program is none, so that its stack is shown", () => {
  const faults = [
    new TypeError("x is not a function"),
    errorWith("syntax error", { code: "42601" }),
    "x",
    undefined,
  ];
  for (const error of faults)
    for (const config of [onFile, onServer]) assert.equal(failureOf(error, config), undefined);
  // The working folder is not the data folder of an error without a path.
  const here = loadConfig({ SIDEREAL_DATA_DIR: resolve(".") });
  assert.equal(failureOf(errorWith("write EPIPE", { code: "EPIPE", syscall: "write" }), here), undefined);
});
