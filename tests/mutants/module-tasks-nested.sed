# Control groups below the one that is traced are not traced.
# in: iot_cgroup_has()
# tests: processes.py a control group, those below it
s/cgroup_ancestor(task_dfl_cgroup(task), g->level)/task_dfl_cgroup(task)/
