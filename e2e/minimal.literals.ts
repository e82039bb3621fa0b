/**
 * What a model reads in a `minimal` session, letter by letter. Literals on purpose: nothing here is read from the product,
 * so a changed prompt, schema or result text shows up as a difference to this file.
 */
export const SYSTEM = 'You are a helpful software engineer assistant.'

export const BASH_DESCRIPTION = `Run a command in this session's persistent bash shell.
* The shell stays open between calls: the working directory, exported variables, functions and background jobs persist.
* Standard input is empty. A program that waits for input is interrupted.
* Keep output small: view a range of lines with \`sed -n '10,25p' FILE\`, and pass long output through \`head\` or \`tail\`.
* Start long-running programs in the background, for example \`make serve > serve.log 2>&1 &\`.
* A call may run for at most 300 seconds.`

const EDITOR_DESCRIPTION = `Views, creates and edits text files by absolute path.
- \`view\` shows a file with line numbers (all of it, or \`view_range\`), or a directory two levels deep without hidden entries.
- \`create\` writes a new file and its parent directories; it refuses a path that exists.
- \`str_replace\` replaces \`old_str\`, which must occur exactly once, by \`new_str\`. Both are literal, whitespace included; the line numbers of \`view\` are not part of the text.
- \`insert\` puts the lines of \`new_str\` after line \`insert_line\`.`

export const TOOLS = [
  {
    name: 'bash',
    description: BASH_DESCRIPTION,
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', description: 'The command to run. Several lines are fine.' } },
      required: ['command'],
      additionalProperties: false,
    },
  },
  {
    name: 'str_replace_editor',
    description: EDITOR_DESCRIPTION,
    parameters: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert'],
          description: 'What to do: `view`, `create`, `str_replace`, `insert`.',
        },
        path: {
          type: 'string',
          description: 'Absolute path of the file or directory, for example /workspace/src/main.ts.',
        },
        file_text: { description: 'Required for `create`: the whole content of the new file.', type: 'string' },
        old_str: {
          description:
            'Required for `str_replace`: the literal text to replace. It must occur exactly once, whitespace included.',
          type: 'string',
        },
        new_str: {
          description:
            'For `str_replace`: the literal text to put in its place; when left out, `old_str` is deleted. Required for `insert`: the lines to insert.',
          type: 'string',
        },
        insert_line: {
          description: 'Required for `insert`: the line after which to insert; 0 inserts before the first line.',
          type: 'integer',
        },
        view_range: {
          description:
            'For `view` of a file: first and last line to show, counted from 1; -1 as last line means the end.',
          type: 'array',
          items: { description: 'Line number, counted from 1.', type: 'integer' },
        },
      },
      required: ['command', 'path'],
      additionalProperties: false,
    },
  },
]

export const PROMPT = 'Prove that the shell keeps its state, then read notes.txt.'
export const ANSWER = 'Directory and variable survived; the notes have two lines.'

const text = (value: string) => ({ type: 'text', text: value })
const call = (id: string, name: string, args: string) => ({ type: 'tool-call', id, name, arguments: args })
const result = (id: string, value: string) => ({
  role: 'user',
  content: [{ type: 'tool-result', call: id, content: [text(value)] }],
})

/** The arguments of the three calls as the model writes them. */
export const ARGUMENTS = [
  String.raw`{"command":"printf 'alpha\\nbeta\\n' > notes.txt && mkdir -p inner && cd inner && export RUN_MARK=survived"}`,
  String.raw`{"command":"echo \"$RUN_MARK\"; echo \"$PWD\""}`,
  '{"command":"view","path":"{{cwd}}/notes.txt"}',
] as const

export const RESULTS = [
  '[no output]',
  'survived\n{{cwd}}/inner',
  '{{cwd}}/notes.txt (3 lines)\n     1  alpha\n     2  beta\n     3  ',
] as const

/** Every message of the last request; request n holds the first 1, 3, 5 and 7 of them. */
export const MESSAGES = [
  { role: 'user', content: [text(PROMPT)] },
  {
    role: 'assistant',
    content: [text('I set up the shell in {{cwd}} first.'), call('call_1', 'bash', ARGUMENTS[0])],
  },
  result('call_1', RESULTS[0]),
  { role: 'assistant', content: [call('call_2', 'bash', ARGUMENTS[1])] },
  result('call_2', RESULTS[1]),
  { role: 'assistant', content: [call('call_3', 'str_replace_editor', ARGUMENTS[2])] },
  result('call_3', RESULTS[2]),
]
