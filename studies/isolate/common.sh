# What the cases share: where inputs come from. A case is run as
#
#   sh CASE.sh fetch FOLDER    puts the input, and what its test needs, into the folder
#   sh CASE.sh start FOLDER    has what the test needs wait in the background, as process FOLDER/pid
#   sh CASE.sh test FILE       ends with 0 if the fault shows on the file
#
# STUDY_CACHE is the folder for what was downloaded, STUDY_CASE that of the case while it is tested.

say() { echo "isolate: $*" >&2; }

# debian PACKAGE PATH: a file of a package, without installing it.
debian() {
    folder=$STUDY_CACHE/debian/$1
    if [ ! -d "$folder" ]; then
        mkdir -p "$folder.part"
        (cd "$folder.part" && apt-get download -q "$1" >/dev/null && dpkg-deb -x "$1"_*.deb .) || return 1
        mv "$folder.part" "$folder"
    fi
    cat "$folder/$2"
}

# jar COORDINATES: where an artifact of Maven Central is.
jar() {
    folder=$STUDY_CACHE/maven/$(echo "$1" | tr ':' '_')
    if [ ! -d "$folder" ]; then
        mvn -q -B dependency:copy -Dartifact="$1" -DoutputDirectory="$folder.part" >&2 || return 1
        mv "$folder.part" "$folder"
    fi
    echo "$folder"/*
}

# crate NAME: the sources of a package that Culprit itself depends on.
crate() {
    cargo metadata --format-version 1 --locked | tr ',' '\n' |
        sed -n "s,.*\"manifest_path\":\"\(.*/$1-[0-9][^/]*\)/Cargo.toml\".*,\1,p"
}

# program FOLDER CLASS PATH: compiles a check that is beside the cases.
program() {
    javac -cp "$3" -d "$1/classes" "${0%/*}/Resident.java" "${0%/*}/$2.java" || return 1
    echo "$2" >"$1/class"
    echo "$1/classes:$3" >"$1/path"
}

# resident FOLDER: has a JVM stay that answers for the check, since starting one takes longer than the check.
resident() {
    rm -f "$1/port"
    setsid java -XX:+UseSerialGC -Xmx500m -cp "$(cat "$1/path")" Resident "$(cat "$1/class")" "$1/port" \
        </dev/null >"$1/resident.log" 2>&1 &
    echo $! >"$1/pid"
    while [ ! -e "$1/port" ]; do
        kill -0 "$(cat "$1/pid")" 2>/dev/null || return 1
        sleep 0.1
    done
}

# ask FILE: whether the fault shows, by the JVM that stays.
ask() {
    bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && realpath "$2" >&3 && read -r answer <&3 && [ "$answer" = true ]' \
        ask "$(cat "$STUDY_CASE/port")" "$1" 2>/dev/null
}
