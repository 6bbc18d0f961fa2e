# Sidereal on one machine: docker build -t sidereal . && docker run --init -p 127.0.0.1:3000:3000 -v sidereal:/data sidereal
#
# The base is pinned by its full version, the one that the tests use. A digest would pin it to the byte, but also keep the faults of its
# Debian packages; where that is wanted, append @sha256:… to both lines.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
# A font for Chinese, Japanese and Korean in pictures, and its licence: of the package's 93 MB, the image has 20.
RUN apt-get update \
  && apt-get install -y --no-install-recommends fonts-noto-cjk=1:20220127+repack1-1 \
  && mkdir /opt/fonts \
  && cp /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc /usr/share/doc/fonts-noto-cjk/copyright /opt/fonts/
COPY package.json package-lock.json .npmrc ./
# Without the packages of the tests. No program of a package runs: the build needs none, and node is that of the image.
RUN npm ci --no-workspaces --ignore-scripts
COPY . .
# The packed files, and beside them what the lockfile says that they need.
RUN npm pack --silent \
  && mkdir /opt/sidereal \
  && tar -xzf sidereal-*.tgz -C /opt/sidereal --strip-components=1 \
  && cp package-lock.json .npmrc /opt/sidereal/ \
  && npm ci --prefix /opt/sidereal --omit=dev --ignore-scripts \
  && rm /opt/sidereal/package-lock.json /opt/sidereal/.npmrc

FROM node:24.21.0-bookworm-slim
# The service needs no package manager.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  && install -d -m 0700 -o 1000 -g 1000 /data \
  && ln -s /opt/sidereal/dist/bundle/sidereal.cjs /usr/local/bin/sidereal
COPY --from=build /opt/sidereal /opt/sidereal
COPY --from=build /opt/fonts /usr/share/fonts/noto-cjk
ENV NODE_ENV=production \
  SIDEREAL_HOST=0.0.0.0 \
  SIDEREAL_PORT=3000 \
  SIDEREAL_DATA_DIR=/data
VOLUME /data
# A file .env in the volume is read. The settings above win over it.
WORKDIR /data
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["/opt/sidereal/dist/bundle/sidereal.cjs", "health"]
ENTRYPOINT ["/opt/sidereal/dist/bundle/sidereal.cjs"]
CMD ["start"]
