export function Brand() {
  return (
    <>
      <svg viewBox="0 0 18 18" width="18" height="18" fill="none" aria-hidden="true">
        <rect x="1" y="1" width="16" height="16" rx="4.5" stroke="currentColor" strokeWidth="1.6" />
        <path d="M11.8 6.4a3.8 3.8 0 1 0 0 5.2" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
        <circle cx="12.2" cy="9" r="1.3" fill="currentColor" />
      </svg>
      core-web
    </>
  )
}
