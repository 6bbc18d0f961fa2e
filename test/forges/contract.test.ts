import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { createGithub } from "../../src/forges/github/github.js";
import { createGitlab } from "../../src/forges/gitlab/gitlab.js";
import { createGogs } from "../../src/forges/gogs/gogs.js";
import { providerContract } from "./contract.js";

providerContract("github", createGithub);
providerContract("gitlab", createGitlab);
providerContract("forgejo", createForgejo);
providerContract("gogs", createGogs);
