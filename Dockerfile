# The page is built with everything installed, the image keeps only what runs.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --include=dev --loglevel=error
COPY . .
RUN node scripts/setup.mjs

FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not --omit=optional: the prebuilt binaries of the terminal and of ripgrep are optional packages. The image brings its own Node.
RUN npm ci --ignore-scripts --omit=dev --loglevel=error && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git ripgrep tini \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /data /workspaces /home/node/.cache/core-web \
  && chown -R node:node /data /workspaces /home/node/.cache
WORKDIR /app
COPY package.json LICENSE core-web.cordis.yml ./
COPY presets ./presets
COPY server ./server
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
ENV NODE_ENV=production \
  NODE_COMPILE_CACHE=/home/node/.cache/core-web \
  CORE_WEB_BOUNDARY=container \
  CORE_WEB_DATA=/data \
  CORE_WEB_HOST=0.0.0.0 \
  CORE_WEB_PORT=4173 \
  CORE_WEB_ALLOW_HOST=localhost:4173 \
  CORE_WEB_NO_OPEN=true
VOLUME /data
EXPOSE 4173
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CORE_WEB_PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tini reaps what the agents' shells leave behind and passes SIGTERM on; npm would keep it from the server.
ENTRYPOINT ["tini", "--"]
CMD ["node", "server/start.mjs", "serve"]
