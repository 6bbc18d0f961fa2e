import { createForgejo } from "../../src/providers/forgejo/forgejo.js";
import { createGitlab } from "../../src/providers/gitlab/gitlab.js";
import { providerContract } from "./contract.js";

providerContract("gitlab", createGitlab);
providerContract("forgejo", createForgejo);
