import { z } from 'zod'
import { defineTool, failure, text } from './tool.ts'
import type { Tool } from './tool.ts'

const schema = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: z.string().describe('What is to be done, in the imperative.'),
        status: z.enum(['pending', 'in_progress', 'completed']),
      }),
    )
    .describe('The whole list; it replaces the one before.'),
})

const DESCRIPTION = `Keeps the task list of this session, which the user sees.
- Send the whole list each time; it replaces the one before.
- Use it for work of three steps or more, and mark an item as soon as its state changes.
- At most one item is \`in_progress\`.`

function problemWith(contents: readonly string[]): string | undefined {
  if (contents.some((content) => content.trim() === '')) return 'An item of the list has no content.'
  const twice = contents.find((content, index) => contents.indexOf(content) !== index)
  return twice === undefined ? undefined : `The item ${JSON.stringify(twice)} stands twice in the list.`
}

/** `todo_write`: the session's task list as a logged fact, replaced as a whole. */
export const todoTool = (): Tool =>
  defineTool({
    name: 'todo_write',
    description: DESCRIPTION,
    schema,
    classify: () => ({ class: 'read', paths: [] }),
    async run({ todos }, context) {
      const items = todos.map(({ content, status }) => ({ content: content.trim(), status }))
      const problem = problemWith(items.map(({ content }) => content))
      if (problem) return failure('TODO_INVALID', `${problem} Nothing was changed.`)
      context.log('todo/write', { todos: items })
      const open = items.filter(({ status }) => status !== 'completed').length
      return text(`The list has ${items.length} items, ${open} of them open.`)
    },
  })
