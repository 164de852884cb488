"""Files as rows: csv, tsv, jsonl, parquet and arrow, read in batches, repeatedly and in bounded memory."""
