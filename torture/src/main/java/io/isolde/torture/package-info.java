// SPDX-License-Identifier: Apache-2.0
/**
 * Runs transactions on a real cluster while its nodes are killed, paused, cut off and given wrong
 * clocks, and has what the clients saw checked. Everything random comes of one seed; the schedule
 * of the operating system does not, so a seed names a plan of faults rather than a history.
 */
package io.isolde.torture;
