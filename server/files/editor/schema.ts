import { z } from 'zod'

/** The published type is an integer; a fraction is refused by the command itself, which can name the allowed range. */
const integer = (description: string) => z.number().meta({ type: 'integer', description })

const fields = {
  path: z.string().describe('Absolute path of the file or directory, for example /workspace/src/main.ts.'),
  file_text: z.string().optional().describe('Required for `create`: the whole content of the new file.'),
  old_str: z
    .string()
    .optional()
    .describe(
      'Required for `str_replace`: the literal text to replace. It must occur exactly once, whitespace included.',
    ),
  new_str: z
    .string()
    .optional()
    .describe(
      'For `str_replace`: the literal text to put in its place; when left out, `old_str` is deleted. ' +
        'Required for `insert`: the lines to insert.',
    ),
  insert_line: integer(
    'Required for `insert`: the line after which to insert; 0 inserts before the first line.',
  ).optional(),
  view_range: z
    .array(integer('Line number, counted from 1.'))
    .optional()
    .describe('For `view` of a file: first and last line to show, counted from 1; -1 as last line means the end.'),
}

const COMMANDS = ['view', 'create', 'str_replace', 'insert'] as const

const command = <const C extends readonly [string, ...string[]]>(names: C) =>
  z.enum(names).describe(`What to do: ${names.map((name) => `\`${name}\``).join(', ')}.`)

const plain = z.strictObject({ command: command(COMMANDS), ...fields })
const withUndo = z.strictObject({ command: command([...COMMANDS, 'undo_edit']), ...fields })

export type EditorArgs = z.output<typeof withUndo>

export const editorSchema = (undo: boolean): z.ZodType<EditorArgs> => (undo ? withUndo : plain)
