# fs takes operations that it never records.
# in: parse_op()
# tests: category.py no meaning
s/if (!err \&\& p->of->event_id == IOT_EVENT_ID_FS/if (0 \&\& p->of->event_id == IOT_EVENT_ID_FS/
