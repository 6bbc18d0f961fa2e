/**
 * Similar repositories: how often the first three and five hold one that people in the field name next to it. The table was written
 * before the rule; the rule was fitted to its first fifty lines, and the others check it. Then the time that one answer takes.
 *
 * node dist/bench/judge/similar.js FOLDER: of the data folder of a service, with a store of SQLite.
 */
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { quantile } from "../support/statistics.js";
import { openStore } from "../support/stores.js";

const FITTED = 50;
const TIMED = 300;
const SHOWN = 5;

/** A repository, and those that belong next to it. */
const TABLE = `
  anthropics/claude-code: openai/codex google-gemini/gemini-cli anomalyco/opencode
  openai/codex: anthropics/claude-code google-gemini/gemini-cli anomalyco/opencode
  facebook/react: vuejs/vue sveltejs/svelte preactjs/preact angular/angular
  vuejs/vue: facebook/react sveltejs/svelte preactjs/preact angular/angular vuejs/core
  sveltejs/svelte: vuejs/vue facebook/react preactjs/preact vuejs/core
  tensorflow/tensorflow: pytorch/pytorch keras-team/keras apache/mxnet
  pytorch/pytorch: tensorflow/tensorflow keras-team/keras
  fastapi/fastapi: pallets/flask django/django
  pallets/flask: django/django fastapi/fastapi
  gin-gonic/gin: labstack/echo gofiber/fiber beego/beego
  labstack/echo: gin-gonic/gin gofiber/fiber beego/beego
  neovim/neovim: vim/vim helix-editor/helix
  neovim/nvim-lspconfig: folke/lazy.nvim mason-org/mason.nvim
  LazyVim/LazyVim: NvChad/NvChad AstroNvim/AstroNvim nvim-lua/kickstart.nvim LunarVim/LunarVim
  alacritty/alacritty: wezterm/wezterm
  zellij-org/zellij: tmux/tmux
  BurntSushi/ripgrep: ggreer/the_silver_searcher sharkdp/fd junegunn/fzf
  yt-dlp/yt-dlp: ytdl-org/youtube-dl iawia002/lux
  prometheus/prometheus: grafana/grafana netdata/netdata influxdata/influxdb
  grafana/loki: grafana/grafana prometheus/prometheus
  redis/redis: valkey-io/valkey dragonflydb/dragonfly memcached/memcached
  hashicorp/terraform: opentofu/opentofu
  opentofu/opentofu: hashicorp/terraform
  webpack/webpack: parcel-bundler/parcel vitejs/vite evanw/esbuild
  vitejs/vite: webpack/webpack parcel-bundler/parcel evanw/esbuild
  microsoft/playwright: puppeteer/puppeteer cypress-io/cypress SeleniumHQ/selenium
  puppeteer/puppeteer: microsoft/playwright cypress-io/cypress SeleniumHQ/selenium ariya/phantomjs
  electron/electron: tauri-apps/tauri nwjs/nw.js wailsapp/wails
  tauri-apps/tauri: electron/electron wailsapp/wails nwjs/nw.js
  denoland/deno: nodejs/node
  qdrant/qdrant: chroma-core/chroma milvus-io/milvus facebookresearch/faiss
  ollama/ollama: ggml-org/llama.cpp vllm-project/vllm nomic-ai/gpt4all mudler/LocalAI oobabooga/text-generation-webui open-webui/open-webui
  AUTOMATIC1111/stable-diffusion-webui: Comfy-Org/ComfyUI lllyasviel/Fooocus
  langchain-ai/langchain: run-llama/llama_index langgenius/dify langflow-ai/langflow FlowiseAI/Flowise
  godotengine/godot: bevyengine/bevy raysan5/raylib cocos2d/cocos2d-x
  emilk/egui: iced-rs/iced ocornut/imgui slint-ui/slint
  tokio-rs/axum: actix/actix-web rwf2/Rocket
  rails/rails: hanami/hanami sinatra/sinatra django/django
  laravel/framework: symfony/symfony yiisoft/yii2 bcit-ci/CodeIgniter
  supabase/supabase: appwrite/appwrite pocketbase/pocketbase
  pocketbase/pocketbase: supabase/supabase appwrite/appwrite
  n8n-io/n8n: windmill-labs/windmill kestra-io/kestra huginn/huginn
  louislam/uptime-kuma: cachethq/cachet
  containers/podman: moby/moby abiosoft/colima
  kubernetes/minikube: k3s-io/k3s kubernetes/kubernetes rancher/rancher
  shadowsocks/shadowsocks-libev: XTLS/Xray-core v2ray/v2ray-core v2fly/v2ray-core SagerNet/sing-box shadowsocks/shadowsocks-windows shadowsocks/shadowsocks-android
  elastic/elasticsearch: meilisearch/meilisearch typesense/typesense
  meilisearch/meilisearch: typesense/typesense elastic/elasticsearch
  dokku/dokku: coollabsio/coolify
  keepassxreboot/keepassxc: bitwarden/server dani-garcia/vaultwarden MacPass/MacPass keeweb/keeweb
  signalapp/Signal-Android: DrKLO/Telegram telegramdesktop/tdesktop signalapp/Signal-iOS
  ohmyzsh/ohmyzsh: sorin-ionescu/prezto romkatv/powerlevel10k Bash-it/bash-it oh-my-fish/oh-my-fish
  immich-app/immich: photoprism/photoprism ente-io/ente
  Radarr/Radarr: Sonarr/Sonarr Jackett/Jackett
  PaddlePaddle/PaddleOCR: tesseract-ocr/tesseract
  spring-projects/spring-boot: spring-projects/spring-framework
  dmlc/xgboost: scikit-learn/scikit-learn
  atuinsh/atuin: junegunn/fzf starship/starship
  nestjs/nest: expressjs/express fastify/fastify koajs/koa
  expressjs/express: koajs/koa fastify/fastify nestjs/nest
  dart-lang/language: dart-lang/sdk
  phoenixframework/phoenix: elixir-lang/elixir phoenixframework/phoenix_live_view elixir-ecto/ecto elixir-plug/plug
  tidyverse/ggplot2: tidyverse/dplyr thomasp85/ggforce thomasp85/patchwork plotly/plotly.R easystats/see`;

const [, , dataDir = "."] = process.argv;
const { database, catalog, rankings, live } = await openStore({ url: undefined, dataDir });
while ((await live.ifLoaded()) === undefined) await setTimeout(10);

async function similarTo(id: number): Promise<string[]> {
  const [repository] = await catalog.findMany([id]);
  if (repository === undefined) return [];
  const found = await catalog.findMany(await rankings.similar(repository, SHOWN));
  return found.map(({ fullName }) => fullName);
}

const hits = { fitted: [0, 0, 0], others: [0, 0, 0] };
for (const [i, line] of TABLE.trim().split("\n").entries()) {
  const [name = "", expected = ""] = line.trim().split(": ");
  const found = await catalog.findByName("GITHUB", name);
  const shown = found === undefined ? [] : await similarTo(found.repository.id);
  const at = shown.findIndex((one) => expected.split(" ").includes(one));
  const counts = i < FITTED ? hits.fitted : hits.others;
  for (const [k, most] of [3, 5, 0].entries())
    counts[k] = (counts[k] ?? 0) + Number(most === 0 || (at >= 0 && at < most));
  console.log(`${at < 0 ? "-" : at + 1} ${name}: ${shown.join(" ")}`);
}
for (const [name, [three, five, all]] of Object.entries(hits))
  console.log(`${name}: ${three} of ${all} in the first three, ${five} in the first five`);

const { rows } = await sql<{ id: number }>`select id from repositories where availability = 'AVAILABLE'
  order by id * 7919 % 100003 limit ${TIMED}`.execute(database.read);
const times: number[] = [];
let without = 0;
for (const repository of await catalog.findMany(rows.map(({ id }) => id))) {
  const began = performance.now();
  const found = await rankings.similar(repository, SHOWN);
  times.push(performance.now() - began);
  if (found.length === 0) without++;
}
console.log(
  `ms for one: median ${quantile(times, 0.5).toFixed(2)}, p99 ${quantile(times, 0.99).toFixed(2)}; none for ${without} of ${times.length}`,
);
await database.close();
