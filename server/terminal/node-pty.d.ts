declare module 'node-pty' {
  export * from '@lydell/node-pty'
}
