"""Columns that together are one Gaussian in each class: summed, solved, scored and exported.

`totals` adds rows up (`sums` is the arithmetic, `saved` what a file holds). `solve` calls on `tying` (which
classes share Σ), `moments` (means and scatter matrices), `em` (the same with gaps, `accelerated`),
`shrinkage`, and `regular` (what becomes of singular covariances). `scores` scores rows by the `parameters`,
and a row with missing cells by the marginal of the others; `export` writes the scores as expressions.
"""
