#include "cluster/communicator.h"

#include "base/clock.h"
#include "cluster/petsc_solver.h"

#include <math.h>
#include <string.h>

static const char *const WHAT = "what ranks exchange";
enum { TAG = 7, MOST_AT_ONCE = 1 << 26 };

// ---- Exchanges

void rbt_exchange_free(rbt_exchange *e) {
    free(e->neighbours);
    free(e->send_start);
    free(e->receive_start);
    free(e->send);
    free(e->receive);
    free(e->outgoing);
    free(e->incoming);
    free(e->requests);
    *e = (rbt_exchange){0};
}

static size_t place_of(const int64_t *known, size_t count, int64_t number) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (known[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low < count && known[low] == number ? low : count;
}

// What is asked for of each rank, and what each asks of this one
typedef struct asking {
    int *asked, *wanted;  // (ranks) how many numbers
    int *asked_start, *wanted_start;
    int64_t *asked_numbers, *wanted_numbers;
    int32_t *wanted_places;
} asking;

static void asking_free(asking *a) {
    free(a->asked);
    free(a->wanted);
    free(a->asked_start);
    free(a->wanted_start);
    free(a->asked_numbers);
    free(a->wanted_numbers);
    free(a->wanted_places);
}

static bool ask(asking *a, MPI_Comm world, int ranks, const int64_t *wanted, const int32_t *owner,
                const int32_t *place, size_t count, rbt_error *error) {
    size_t many = (size_t)ranks + 1;
    *a = (asking){.asked = rbt_array_new(many, sizeof(int), WHAT, error),
                  .wanted = rbt_array_new(many, sizeof(int), WHAT, error),
                  .asked_start = rbt_array_new(many, sizeof(int), WHAT, error),
                  .wanted_start = rbt_array_new(many, sizeof(int), WHAT, error),
                  .wanted_numbers = rbt_array_new(count, sizeof(int64_t), WHAT, error),
                  .wanted_places = rbt_array_new(count, sizeof(int32_t), WHAT, error)};
    if (!a->asked || !a->wanted || !a->asked_start || !a->wanted_start || !a->wanted_numbers || !a->wanted_places)
        return false;
    for (size_t i = 0; i < count; i++) a->wanted[owner[i]]++;
    for (int r = 0; r < ranks; r++) a->wanted_start[r + 1] = a->wanted_start[r] + a->wanted[r];
    int *at = rbt_array_new(many, sizeof *at, WHAT, error);
    if (!at) return false;
    memcpy(at, a->wanted_start, many * sizeof *at);
    for (size_t i = 0; i < count; i++) {
        a->wanted_numbers[at[owner[i]]] = wanted[i];
        a->wanted_places[at[owner[i]]++] = place[i];
    }
    free(at);
    MPI_Alltoall(a->wanted, 1, MPI_INT, a->asked, 1, MPI_INT, world);
    for (int r = 0; r < ranks; r++) a->asked_start[r + 1] = a->asked_start[r] + a->asked[r];
    a->asked_numbers = rbt_array_new((size_t)a->asked_start[ranks], sizeof(int64_t), WHAT, error);
    if (!a->asked_numbers) return false;
    MPI_Alltoallv(a->wanted_numbers, a->wanted, a->wanted_start, MPI_INT64_T, a->asked_numbers, a->asked,
                  a->asked_start, MPI_INT64_T, world);
    return true;
}

bool rbt_exchange_build(rbt_exchange *e, MPI_Comm world, const int64_t *wanted, const int32_t *owner,
                        const int32_t *wanted_place, size_t wanted_count, const int64_t *known,
                        const int32_t *known_place, size_t known_count, rbt_error *error) {
    int ranks;
    asking a;
    MPI_Comm_size(world, &ranks);
    *e = (rbt_exchange){0};
    bool good = ask(&a, world, ranks, wanted, owner, wanted_place, wanted_count, error);
    for (int r = 0; good && r < ranks; r++) e->neighbour_count += a.asked[r] || a.wanted[r];
    size_t many = (size_t)e->neighbour_count + 1;
    size_t sends = good ? (size_t)a.asked_start[ranks] : 0;
    good = good && (e->neighbours = rbt_array_new(many, sizeof *e->neighbours, WHAT, error)) &&
           (e->send_start = rbt_array_new(many, sizeof *e->send_start, WHAT, error)) &&
           (e->receive_start = rbt_array_new(many, sizeof *e->receive_start, WHAT, error)) &&
           (e->send = rbt_array_new(sends, sizeof *e->send, WHAT, error)) &&
           (e->receive = rbt_array_new(wanted_count, sizeof *e->receive, WHAT, error)) &&
           (e->outgoing = rbt_array_new(3 * sends, sizeof(double), WHAT, error)) &&
           (e->incoming = rbt_array_new(3 * wanted_count, sizeof(double), WHAT, error)) &&
           (e->requests = rbt_array_new(2 * many, sizeof *e->requests, WHAT, error));
    for (int r = 0, k = 0; good && r < ranks; r++) {
        if (!a.asked[r] && !a.wanted[r]) continue;
        e->neighbours[k++] = r;
        e->send_start[k] = (size_t)a.asked_start[r + 1];
        e->receive_start[k] = (size_t)a.wanted_start[r + 1];
    }
    for (size_t i = 0; good && i < sends; i++) {
        size_t place = place_of(known, known_count, a.asked_numbers[i]);
        if (place == known_count)
            good = rbt_fail(error, "a rank asks for number %lld, which is not here", (long long)a.asked_numbers[i]);
        else e->send[i] = known_place[place];
    }
    if (good) memcpy(e->receive, a.wanted_places, wanted_count * sizeof *e->receive);
    asking_free(&a);
    if (!good) rbt_exchange_free(e);
    return good;
}

void rbt_exchange_values(rbt_exchange *e, MPI_Comm world, double *values, rbt_traffic *traffic) {
    double start = rbt_now();
    int count = e->neighbour_count, requests = 0;
    for (int k = 0; k < count; k++) {
        size_t first = e->receive_start[k], size = e->receive_start[k + 1] - first;
        if (size)
            MPI_Irecv(e->incoming + 3 * first, (int)(3 * size), MPI_DOUBLE, e->neighbours[k], TAG, world,
                      &e->requests[requests++]);
    }
    for (int k = 0; k < count; k++) {
        size_t first = e->send_start[k], end = e->send_start[k + 1];
        if (first == end) continue;
        for (size_t i = first; i < end; i++)
            memcpy(e->outgoing + 3 * i, values + 3 * (size_t)e->send[i], 3 * sizeof *values);
        MPI_Isend(e->outgoing + 3 * first, (int)(3 * (end - first)), MPI_DOUBLE, e->neighbours[k], TAG, world,
                  &e->requests[requests++]);
        traffic->messages++;
        traffic->bytes += (int64_t)(3 * (end - first) * sizeof(double));
    }
    MPI_Waitall(requests, e->requests, MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < e->receive_start[count]; i++)
        memcpy(values + 3 * (size_t)e->receive[i], e->incoming + 3 * i, 3 * sizeof *values);
    traffic->seconds += rbt_now() - start;
}

// ---- The functions of model/ranks.h

static void share(void *self, double *values) {
    rbt_communicator *c = self;
    rbt_exchange_values(&c->nodes, c->world, values, &c->traffic);
}

static void join_sums(void *in, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) rbt_sum_join((rbt_sum *)to + i, (const rbt_sum *)in + i);
}

static void join(void *self, rbt_sum *sums, size_t count) {
    rbt_communicator *c = self;
    double start = rbt_now();
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)count, c->sum_type, c->join_sums, c->world);
    c->traffic.reductions++;
    c->traffic.reduced += (int64_t)(count * sizeof *sums);
    c->traffic.seconds += rbt_now() - start;
}

static void keep_largest(void *in, void *to, int *count, MPI_Datatype *type) {
    const double *a = in;
    double *b = to;
    (void)type;
    for (int i = 0; i < *count; i++)
        if (!(a[i] <= b[i]) && !isnan(b[i])) b[i] = a[i];
}

static void most(void *self, double *values, size_t count) {
    rbt_communicator *c = self;
    double start = rbt_now();
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, c->largest, c->world);
    c->traffic.reductions++;
    c->traffic.reduced += (int64_t)(count * sizeof *values);
    c->traffic.seconds += rbt_now() - start;
}

static int first(void *self, bool has) {
    rbt_communicator *c = self;
    double start = rbt_now();
    int least = has ? c->rank : c->count;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, c->world);
    c->traffic.reductions++;
    c->traffic.reduced += (int64_t)sizeof least;
    c->traffic.seconds += rbt_now() - start;
    return least;
}

static void tell(void *self, int from, void *bytes, size_t size) {
    rbt_communicator *c = self;
    MPI_Bcast(bytes, (int)size, MPI_BYTE, from, c->world);
}

// Bits of one rank each, and of others none: no arithmetic touches them.
static void unite(void *self, double *values, size_t count) {
    rbt_communicator *c = self;
    double start = rbt_now();
    for (size_t at = 0; at < count; at += MOST_AT_ONCE)
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)(count - at < MOST_AT_ONCE ? count - at : MOST_AT_ONCE),
                      MPI_UINT64_T, MPI_BOR, c->world);
    c->traffic.reductions++;
    c->traffic.reduced += (int64_t)(count * sizeof *values);
    c->traffic.seconds += rbt_now() - start;
}

static bool gather(void *self, uint64_t **keys, size_t *count, rbt_error *error) {
    rbt_communicator *c = self;
    int own = (int)*count, all = 0;
    int *counts = rbt_array_new((size_t)c->count, sizeof *counts, WHAT, error);
    int *starts = rbt_array_new((size_t)c->count, sizeof *starts, WHAT, error);
    bool good = first(self, !counts || !starts) == c->count;
    if (good) MPI_Allgather(&own, 1, MPI_INT, counts, 1, MPI_INT, c->world);
    for (int r = 0; good && r < c->count; all += counts[r++]) starts[r] = all;
    uint64_t *together = good ? rbt_array_new((size_t)all, sizeof *together, WHAT, error) : NULL;
    good = good && first(self, !together) == c->count;
    if (good) {
        MPI_Allgatherv(*keys, own, MPI_UINT64_T, together, counts, starts, MPI_UINT64_T, c->world);
        free(*keys);
        *keys = together;
        *count = (size_t)all;
    } else free(together);
    free(counts);
    free(starts);
    return good;
}

static void *connect_items(void *self, const rbt_rank_items *wanted, const int32_t *owner,
                           const rbt_rank_items *known, rbt_error *error) {
    rbt_communicator *c = self;
    rbt_exchange *e = rbt_array_new(1, sizeof *e, WHAT, error);
    bool good = first(self, !e) == c->count &&
                rbt_exchange_build(e, c->world, wanted->key, owner, wanted->place, wanted->count, known->key,
                                   known->place, known->count, error);
    if (good) return e;
    free(e);
    return NULL;
}

static void exchange(void *self, void *connection, double *values) {
    rbt_communicator *c = self;
    rbt_exchange_values(connection, c->world, values, &c->traffic);
}

static void disconnect(void *self, void *connection) {
    (void)self;
    rbt_exchange_free(connection);
    free(connection);
}

static bool connect_nodes(rbt_communicator *c, const rbt_piece *piece, rbt_error *error) {
    const rbt_model *m = piece->model;
    const rbt_ranks *ranks = &piece->ranks;
    size_t nodes = m->node_count, wanted = 0, known = 0;
    int64_t *numbers = rbt_array_new(2 * nodes, sizeof *numbers, WHAT, error), *own = numbers + nodes;
    int32_t *places = rbt_array_new(2 * nodes, sizeof *places, WHAT, error), *own_places = places + nodes;
    int32_t *owner = rbt_array_new(nodes, sizeof *owner, WHAT, error);
    bool good = numbers && places && owner;
    for (size_t n = 0; good && n < nodes; n++) {
        if (ranks->owned[n]) {
            own[known] = ranks->number[n];
            own_places[known++] = (int32_t)n;
        } else {
            numbers[wanted] = ranks->number[n];
            owner[wanted] = piece->owner[n];
            places[wanted++] = (int32_t)n;
        }
    }
    good = good &&
           rbt_exchange_build(&c->nodes, c->world, numbers, owner, places, wanted, own, own_places, known, error);
    free(numbers);
    free(places);
    free(owner);
    return good;
}

bool rbt_communicator_connect(rbt_communicator *c, MPI_Comm world, rbt_piece *piece, rbt_error *error) {
    *c = (rbt_communicator){.world = world};
    MPI_Comm_rank(world, &c->rank);
    MPI_Comm_size(world, &c->count);
    MPI_Type_contiguous((int)sizeof(rbt_sum), MPI_BYTE, &c->sum_type);
    MPI_Type_commit(&c->sum_type);
    MPI_Op_create(join_sums, 1, &c->join_sums);
    MPI_Op_create(keep_largest, 1, &c->largest);
    if (!connect_nodes(c, piece, error)) return false;
    rbt_ranks *ranks = &piece->ranks;
    ranks->self = c;
    ranks->share = share;
    ranks->join = join;
    ranks->most = most;
    ranks->first = first;
    ranks->tell = tell;
    ranks->unite = unite;
    ranks->gather = gather;
    ranks->connect = connect_items;
    ranks->exchange = exchange;
    ranks->disconnect = disconnect;
    ranks->solver = rbt_petsc_solver;
    piece->model->ranks = ranks;
    return true;
}

void rbt_communicator_free(rbt_communicator *c) {
    rbt_exchange_free(&c->nodes);
    if (c->sum_type) MPI_Type_free(&c->sum_type);
    if (c->join_sums) MPI_Op_free(&c->join_sums);
    if (c->largest) MPI_Op_free(&c->largest);
}
