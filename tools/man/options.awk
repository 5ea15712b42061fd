# SPDX-License-Identifier: GPL-2.0
#
# Writes the lists of options in a manual page anew, from the tool's table of options:
#
#	iotracer format --options | awk -f options.awk - iotracer.8
#
# A list stands between two lines. It has all options of the command, or only those named:
#
#	.\" begin: options of COMMAND [OPTION...]
#	.\" end
#
# Each option has its heading and the sentence of --help. Further text about the option stands
# behind a line .\" more, and is kept. Where that text would be lost, because its option is not in
# the list any more, the script fails.

function fail(text)
{
	print "options.awk: " text >"/dev/stderr"
	failed = 1
	exit 1
}

function roff(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/'/, "\\(aq", text)
	gsub(/`/, "\\(ga", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/~/, "\\(ti", text)
	return text
}

function bold(text) { return "\\fB" roff(text) "\\fR" }
function italic(text) { return "\\fI" roff(text) "\\fR" }

# Arguments are in italics, the characters between them are not: N, KEY=VALUE, SIZE|TIME
function argument(text,   out)
{
	while (match(text, /[A-Za-z0-9_-]+/)) {
		out = out roff(substr(text, 1, RSTART - 1)) italic(substr(text, RSTART, RLENGTH))
		text = substr(text, RSTART + RLENGTH)
	}
	return out roff(text)
}

function heading(i,   text)
{
	text = bold("--" name[i])
	if (letter[i] != "-")
		text = bold("-" letter[i]) ", " text
	if (value[i] != "-")
		text = text "=" argument(value[i])
	return text
}

function has(list, separator, word,   i, nr, part)
{
	nr = split(list, part, separator)
	for (i = 1; i <= nr; i++)
		if (part[i] == word)
			return 1
	return 0
}

# A word of the sentence of option i. Options and the words that the option takes are in bold,
# names of arguments and files in italics.
function word_of(i, word)
{
	if (word ~ /^--?[a-z]/ || has(words[i], " ", word))
		return bold(word)
	if (word ~ /^[a-z]+=[A-Z]+$/)
		return bold(substr(word, 1, index(word, "="))) italic(substr(word, index(word, "=") + 1))
	if (word ~ /[\/<]/ || word ~ /^(COMMAND|FILE|IMAGE|KEY|CATEGORY|DIRECTORY)(\.0+1)?$/ ||
	    has(value[i], "[^A-Z]+", word))
		return italic(word)
	return roff(word)
}

# Marks all words of a text; with all set, every word but "or" is in bold.
function marked(i, text, all,   out, word)
{
	while (match(text, /[^ ,;:()]+/)) {
		word = substr(text, RSTART, RLENGTH)
		out = out substr(text, 1, RSTART - 1) (all && word != "or" ? bold(word) : word_of(i, word))
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}

# In "csv, json: omit", "merge: add" and "with --vm: trace" the condition stands before the colon.
function sentence(i,   text, at)
{
	text = meaning[i]
	at = index(text, ": ")
	if (text ~ /^with [^:]*: /)
		return "With " marked(i, substr(text, 6, at - 6), 1) marked(i, substr(text, at)) "."
	if (text ~ /^[a-z]+(, [a-z]+)*: /)
		return marked(i, substr(text, 1, at - 1), 1) marked(i, substr(text, at)) "."
	text = marked(i, text)
	return toupper(substr(text, 1, 1)) substr(text, 2) "."
}

function print_option(i)
{
	if (listed[of[i], name[i]]++)
		fail(of[i] " --" name[i] " is in two lists")
	print ".TP"
	print heading(i)
	print sentence(i)
	printf "%s", more[of[i], name[i]]
}

# Stores a line of the page if it stands behind .\" more. Options in it are in a list of their own,
# between .RS and .RE.
function keep(line)
{
	if (line ~ /^\.\\" begin: options of /) {
		split(line, word, " ")
		command = word[5]
		option = ""
		depth = 0
	} else if (line ~ /^\.\\" end$/) {
		command = ""
	} else if (command != "" && line == ".TP" && !depth) {
		option = kept = ""
	} else if (command != "" && option == "") {
		match(line, /\\fB\\-\\-([a-z]|\\-)+/)
		option = substr(line, RSTART + 7, RLENGTH - 7)
		gsub(/\\/, "", option)
	} else if (command != "" && (kept || line == ".\\\" more")) {
		kept = 1
		depth += (line ~ /^\.RS/) - (line ~ /^\.RE/)
		more[command, option] = more[command, option] line "\n"
	}
}

FNR == NR {
	split($0, field, "\t")
	nr++
	of[nr] = field[1]; name[nr] = field[2]; letter[nr] = field[3]
	value[nr] = field[4]; words[nr] = field[5]; meaning[nr] = field[6]
	next
}

# The page is read twice: first for the text behind .\" more.
FNR == 1 {
	page = FILENAME
	while ((getline line < page) > 0)
		keep(line)
	close(page)
}

/^\.\\" begin: options of / {
	print
	found = 0
	for (i = 1; i <= nr; i++) {
		if (of[i] != $5)
			continue
		wanted = NF < 6
		for (j = 6; j <= NF; j++)
			if ($j == name[i])
				wanted = 1
		if (wanted) {
			print_option(i)
			found++
		}
	}
	if (!found || (NF >= 6 && found != NF - 5))
		fail("no such command or option: " $0)
	inside = 1
	next
}

/^\.\\" end$/ { inside = 0 }

!inside { print }

END {
	if (failed)
		exit 1
	for (key in more) {
		split(key, part, SUBSEP)
		if (!((part[1], part[2]) in listed)) {
			print "options.awk: " part[1] " has no option --" part[2] ", but text behind .\\\" more" >"/dev/stderr"
			exit 1
		}
	}
}
