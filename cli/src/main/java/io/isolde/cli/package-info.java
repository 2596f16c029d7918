// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of Isolde. {@link io.isolde.cli.Main} lists the commands; each is a class of its
 * own.
 */
package io.isolde.cli;
