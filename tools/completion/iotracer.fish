# SPDX-License-Identifier: GPL-2.0
#
# fish(1) completes the command line of iotracer, by what `iotracer complete` prints (tools/cmd/complete.c).

function __iotracer_complete
	set -l words (commandline -opc) (commandline -ct)
	for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
		set -l parts (string split \t -- $line)
		switch $line
			case \tcommand\t'*'
				__fish_complete_subcommand --fcs-skip=(math $parts[3] + 1)
			case \tdirectories\t'*'
				set -l rest (string replace -- "$parts[3]" '' (commandline -ct))
				string replace -r '^' -- $parts[3] (__fish_complete_directories "$rest" '')
			case \tfiles\t'*'
				set -l rest (string replace -- "$parts[3]" '' (commandline -ct))
				string replace -r '^' -- $parts[3] (__fish_complete_path "$rest" '')
			case '*'
				echo $line
		end
	end
end

complete -c iotracer -f -a '(__iotracer_complete)'
