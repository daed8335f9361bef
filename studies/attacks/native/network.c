/* Ways to reach other processes and other machines. */
#include "attempts.h"
#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_in inet(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(number(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static socklen_t unix_path(struct sockaddr_un *address, const char *name) {
    /* Paths of sockets are short: the study made a link to the place. */
    *address = (struct sockaddr_un) {.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s", in_place(name));
    return sizeof *address;
}

static socklen_t unix_abstract(struct sockaddr_un *address, const char *kind) {
    *address = (struct sockaddr_un) {.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s%ld", kind, number("abstract"));
    return offsetof(struct sockaddr_un, sun_path) + 1 + length;
}

static long tcp(void) {
    struct sockaddr_in to = inet("tcp");
    int it = socket(AF_INET, SOCK_STREAM, 0);
    TRY(it);
    TRY(connect(it, (void *) &to, sizeof to));
    return close(it);
}

static long tcp_fast_open(void) {
    struct sockaddr_in to = inet("tcp");
    int it = socket(AF_INET, SOCK_STREAM, 0);
    TRY(it);
    TRY(sendto(it, "x", 1, MSG_FASTOPEN, (void *) &to, sizeof to));
    return close(it);
}

static long mptcp(void) {
    struct sockaddr_in to = inet("tcp");
    int it = socket(AF_INET, SOCK_STREAM, 262);
    TRY(it);
    TRY(connect(it, (void *) &to, sizeof to));
    return close(it);
}

static long listen_tcp(void) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int it = socket(AF_INET, SOCK_STREAM, 0);
    TRY(it);
    TRY(bind(it, (void *) &at, sizeof at));
    TRY(listen(it, 1));
    return close(it);
}

static long udp(void) {
    struct sockaddr_in to = inet("udp");
    int it = socket(AF_INET, SOCK_DGRAM, 0);
    TRY(it);
    TRY(sendto(it, "x", 1, 0, (void *) &to, sizeof to));
    return close(it);
}

static long unix_stream(void) {
    struct sockaddr_un to;
    socklen_t length = unix_path(&to, "stream");
    int it = socket(AF_UNIX, SOCK_STREAM, 0);
    TRY(it);
    TRY(connect(it, (void *) &to, length));
    return close(it);
}

static long abstract_stream(void) {
    struct sockaddr_un to;
    socklen_t length = unix_abstract(&to, "stream");
    int it = socket(AF_UNIX, SOCK_STREAM, 0);
    TRY(it);
    TRY(connect(it, (void *) &to, length));
    return close(it);
}

static long pair(int kind) {
    int ends[2];
    TRY(socketpair(AF_UNIX, kind, 0, ends));
    return ends[0];
}

static long pair_sendto(void) {
    struct sockaddr_un to;
    socklen_t length = unix_path(&to, "datagram");
    long it = pair(SOCK_DGRAM);
    if (it < 0)
        return it;
    TRY(sendto(it, "x", 1, 0, (void *) &to, length));
    return 0;
}

static long pair_sendto_abstract(void) {
    struct sockaddr_un to;
    socklen_t length = unix_abstract(&to, "datagram");
    long it = pair(SOCK_DGRAM);
    if (it < 0)
        return it;
    TRY(sendto(it, "x", 1, 0, (void *) &to, length));
    return 0;
}

static long pair_connect(void) {
    struct sockaddr_un to;
    socklen_t length = unix_path(&to, "datagram");
    long it = pair(SOCK_DGRAM);
    if (it < 0)
        return it;
    TRY(connect(it, (void *) &to, length));
    TRY(write(it, "x", 1));
    return 0;
}

static struct msghdr message(struct sockaddr_un *to, struct iovec *piece) {
    socklen_t length = unix_path(to, "datagram");
    *piece = (struct iovec) {"x", 1};
    return (struct msghdr) {.msg_name = to, .msg_namelen = length, .msg_iov = piece, .msg_iovlen = 1};
}

static long pair_sendmsg(void) {
    struct sockaddr_un to;
    struct iovec piece;
    struct msghdr letter = message(&to, &piece);
    long it = pair(SOCK_DGRAM);
    if (it < 0)
        return it;
    TRY(sendmsg(it, &letter, 0));
    return 0;
}

static long pair_sendmmsg(void) {
    struct sockaddr_un to;
    struct iovec piece;
    struct mmsghdr letters[1] = {{.msg_hdr = message(&to, &piece)}};
    long it = pair(SOCK_DGRAM);
    if (it < 0)
        return it;
    TRY(sendmmsg(it, letters, 1, 0));
    return 0;
}

static long pair_bind(void) {
    long it = pair(SOCK_STREAM);
    if (it < 0)
        return it;
    struct sockaddr_un at;
    socklen_t length = unix_path(&at, "new");
    TRY(bind(it, (void *) &at, length));
    return 0;
}

static long bind_there(void) {
    struct sockaddr_un at;
    socklen_t length = unix_path(&at, "new");
    int it = socket(AF_UNIX, SOCK_STREAM, 0);
    TRY(it);
    TRY(bind(it, (void *) &at, length));
    return 0;
}

static long a_socket(int family, int kind, int protocol) {
    int it = socket(family, kind, protocol);
    TRY(it);
    return close(it);
}

static long netlink_route(void) { return a_socket(AF_NETLINK, SOCK_RAW, 0); }
static long netlink_audit(void) { return a_socket(AF_NETLINK, SOCK_RAW, 9); }
static long packet(void) { return a_socket(AF_PACKET, SOCK_RAW, htons(3)); }
static long raw_icmp(void) { return a_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static long vsock(void) { return a_socket(AF_VSOCK, SOCK_STREAM, 0); }
static long crypto(void) { return a_socket(AF_ALG, SOCK_SEQPACKET, 0); }
static long inet6(void) { return a_socket(AF_INET6, SOCK_STREAM, 0); }

static long io_uring(void) {
    char parameters[120] = {0};
    long it = syscall(SYS_io_uring_setup, 1, parameters);
    TRY(it);
    return close(it);
}

static long interface_queue(void) {
    struct ifreq request = {.ifr_name = "lo", .ifr_qlen = 1777};
    int ends[2];
    TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    TRY(ioctl(ends[0], SIOCSIFTXQLEN, &request));
    return 0;
}

const struct attempt network_attempts[] = {
    {"tcp", tcp}, {"tcp-fast-open", tcp_fast_open}, {"mptcp", mptcp}, {"listen-tcp", listen_tcp}, {"udp", udp},
    {"unix-stream", unix_stream}, {"abstract-stream", abstract_stream}, {"pair-sendto", pair_sendto},
    {"pair-sendto-abstract", pair_sendto_abstract}, {"pair-connect", pair_connect}, {"pair-sendmsg", pair_sendmsg},
    {"pair-sendmmsg", pair_sendmmsg}, {"pair-bind", pair_bind}, {"bind-there", bind_there},
    {"netlink-route", netlink_route}, {"netlink-audit", netlink_audit}, {"packet", packet}, {"raw-icmp", raw_icmp},
    {"vsock", vsock}, {"crypto", crypto}, {"inet6", inet6}, {"io-uring", io_uring},
    {"interface-queue", interface_queue}, {NULL, NULL},
};
