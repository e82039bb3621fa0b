/** A section's name and what it is about. */
export function Heading({ title, about }: { title: string; about: string }) {
  return (
    <div className="hd">
      <div>
        <h2>{title}</h2>
        <p>{about}</p>
      </div>
    </div>
  )
}
