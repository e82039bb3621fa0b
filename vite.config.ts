import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: join(import.meta.dirname, 'web'),
  // Relative: the server may sit below any path of a reverse proxy and rewrites these references itself.
  base: './',
  plugins: [react()],
  server: {
    proxy: { '/api': { target: process.env['CORE_WEB_DEV_SERVER'] ?? 'http://127.0.0.1:4173', ws: true } },
  },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // A font inlined as a data: address would break the page's policy.
    assetsInlineLimit: 0,
    target: 'es2022',
    // Below these versions the style sheet compiler rewrites light-dark(), which the theme switch relies on.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: true,
    // Grammars are data that load on the first code block of their language.
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // All that the first screen needs is one file: five that wait for each other cost more than a second download of React.
          groups: [{ name: 'base', tags: ['$initial'] }],
        },
      },
    },
  },
})
