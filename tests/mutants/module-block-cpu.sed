# The submitting CPU is 0.
# in: note_submitter()
# tests: fields.py queued requests
s/e->submit_cpu = raw_smp_processor_id();/e->submit_cpu = 0;/
