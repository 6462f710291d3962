template <int SIZE>
__global__ void sum(
    const float* input,
    float* total,
    int n) {
  __shared__ float partial[SIZE];
  int t = threadIdx.x;
  int i = blockIdx.x * SIZE + t;
  partial[t] = i < n ? input[i] : 0.0f;
  for (int k = SIZE / 2; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) partial[t] += partial[t + k];
  }
  if (t == 0) atomicAdd(total, partial[0]);
}

sum<256><<<blocks, 256>>>(input, total, n);
