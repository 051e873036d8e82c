// How ranks talk (MPI): the functions of model/ranks.h, and what was said so far.
#ifndef RBT_CLUSTER_COMMUNICATOR_H
#define RBT_CLUSTER_COMMUNICATOR_H

#include "cluster/piece.h"

#include <mpi.h>

// Values that go from their owners to those who know them too: which ones to whom
typedef struct rbt_exchange {
    int neighbour_count;
    int *neighbours;
    size_t *send_start, *receive_start;  // (neighbour_count + 1)
    int32_t *send, *receive;             // places here, neighbour by neighbour
    double *outgoing, *incoming;         // (send_start[neighbour_count] x 3) and likewise
    MPI_Request *requests;               // (2 neighbour_count)
} rbt_exchange;

typedef struct rbt_traffic {
    int64_t messages, bytes;      // sent to neighbours
    int64_t reductions, reduced;  // sums and maxima over all ranks, and their bytes
    double seconds;               // spent in all of it, waiting included
} rbt_traffic;

typedef struct rbt_communicator {
    MPI_Comm world;
    int rank, count;
    MPI_Datatype sum_type;
    MPI_Op join_sums, largest;
    rbt_exchange nodes;
    rbt_traffic traffic;
} rbt_communicator;

// Connects a rank's part: all ranks at the same time. The communicator must stay where it is.
bool rbt_communicator_connect(rbt_communicator *c, MPI_Comm world, rbt_piece *piece, rbt_error *error);
void rbt_communicator_free(rbt_communicator *c);

// Which of `items` that this rank wants to know (ascending numbers `wanted`, of rank `owner` each) others have in
// `known` (ascending numbers, places here): the way of such values. All ranks call it.
bool rbt_exchange_build(rbt_exchange *exchange, MPI_Comm world, const int64_t *wanted, const int32_t *owner,
                        const int32_t *wanted_place, size_t wanted_count, const int64_t *known,
                        const int32_t *known_place, size_t known_count, rbt_error *error);
void rbt_exchange_free(rbt_exchange *exchange);
// values: three numbers at each place
void rbt_exchange_values(rbt_exchange *exchange, MPI_Comm world, double *values, rbt_traffic *traffic);

#endif
