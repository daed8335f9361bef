# input: NNTP.pm
# language: text
# fault: podchecker of Perl 5.36 on Net::NNTP: an internal link is unresolved
. "${0%/*}/common.sh"
case $1 in
fetch) debian perl-modules-5.36 usr/share/perl/5.36.0/Net/NNTP.pm >"$2/NNTP.pm" ;;
test) podchecker "$2" 2>&1 | grep -q "ERROR: unresolved internal link 'authinfo'" ;;
esac
