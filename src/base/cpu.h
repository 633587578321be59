/* cpu.h -- which of the objects of X_isa.c this processor runs; private to src. */
#ifndef ICLKIN_BASE_CPU_H
#define ICLKIN_BASE_CPU_H

/* The level of the x86-64 instruction set, of those compiled: 4, 3 or 1. */
int icl_cpu_level(void);

#endif
