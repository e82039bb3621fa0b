import type { ScalarTag } from 'yaml'

interface Expression {
  __jsExpr: string
}

export const isExpression = (value: unknown): value is Expression =>
  typeof value === 'object' && value !== null && '__jsExpr' in value

/** The loader's expression tag, kept as it was written. */
export const js: ScalarTag = {
  tag: 'tag:yaml.org,2002:js',
  identify: isExpression,
  resolve: (text) => ({ __jsExpr: text }),
  stringify: (item) => (item.value as Expression).__jsExpr,
}
