import { createForgejo } from "../../src/providers/forgejo/forgejo.js";
import { createGithub } from "../../src/providers/github/github.js";
import { createGitlab } from "../../src/providers/gitlab/gitlab.js";
import { providerContract } from "./contract.js";

providerContract("github", createGithub);
providerContract("gitlab", createGitlab);
providerContract("forgejo", createForgejo);
